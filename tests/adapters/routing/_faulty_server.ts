import type { CandidateRequest } from "../../../core/routing/client.ts";

/** What a server does with one request; null answers it with `echo: ` and the question. */
export type Fault = Response | "hang" | "cut" | null;

/** A real server on loopback that counts what it billed; it bills only what it answers. */
export interface FaultyServer extends AsyncDisposable {
  readonly baseUrl: string;
  /** Idempotency keys of all requests, in order. */
  readonly keys: readonly string[];
  /** How often each idempotency key was answered. */
  readonly billed: ReadonlyMap<string, number>;
}

export function startFaultyServer(
  faultOf: (request: CandidateRequest, count: number, headers: Headers) => Fault,
): FaultyServer {
  const keys: string[] = [];
  const billed = new Map<string, number>();
  const closing = new AbortController();
  const untilClosed = new Promise<Response>((resolve) => {
    closing.signal.addEventListener("abort", () => resolve(new Response(null, { status: 503 })));
  });
  const server = Deno.serve(
    { port: 0, hostname: "127.0.0.1", signal: closing.signal, onListen: () => {} },
    async (http) => {
      const request = await http.json() as CandidateRequest;
      const key = http.headers.get("idempotency-key") ?? "";
      keys.push(key);
      const fault = faultOf(request, keys.length, http.headers);
      if (fault === "hang") return await untilClosed;
      if (fault === "cut") return cut();
      if (fault !== null) return fault;
      billed.set(key, (billed.get(key) ?? 0) + 1);
      return Response.json(completionOf(`echo: ${request.messages.at(-1)?.content}`));
    },
  );
  return {
    baseUrl: `http://127.0.0.1:${server.addr.port}/v1`,
    keys,
    billed,
    async [Symbol.asyncDispose]() {
      closing.abort();
      await server.finished;
    },
  };
}

/** A completion of 3 + 4 tokens. */
export function completionOf(content: string | null, more: Record<string, unknown> = {}) {
  return {
    id: "chatcmpl-1",
    object: "chat.completion",
    choices: [{
      index: 0,
      message: { role: "assistant", content },
      finish_reason: "stop",
      ...more,
    }],
    usage: { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 },
  };
}

/** Promises a longer body than it sends. */
function cut(): Response {
  const body = new Blob(['{"choices": [{"message"']).stream();
  return new Response(body, { headers: { "content-length": "500" } });
}
