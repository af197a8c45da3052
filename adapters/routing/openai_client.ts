import ky from "ky";
import { z } from "zod";
import { CandidateError } from "../../core/errors.ts";
import {
  type CandidateClient,
  type CandidateReply,
  classifyResponse,
  requestBody,
  UnansweredError,
} from "../../core/routing/mod.ts";

/** An answer longer than this is not read on, in bytes. */
const LONGEST_BODY = 4 * 1024 * 1024;

const tokenCount = z.int().min(0).max(1e8);

const Completion = z.object({
  choices: z.array(z.object({
    message: z.object({
      content: z.string().nullish(),
      /** Set instead of the content when the model declines on grounds of policy. */
      refusal: z.string().nullish(),
    }),
    finish_reason: z.string().nullish(),
  })).min(1),
  usage: z.object({ prompt_tokens: tokenCount, completion_tokens: tokenCount }),
});

/** Where a server is and how long it may take. */
export interface OpenAiServer {
  /** Up to and with the version, such as `http://127.0.0.1:8080/v1`. */
  readonly baseUrl: string;
  /** None for a server that asks for none. */
  readonly apiKey?: string;
  /** From sending to the last byte of the answer. */
  readonly timeoutMs: number;
}

/**
 * Asks any server with OpenAI's `/chat/completions`, once: it never retries. Failures are CandidateErrors,
 * UnansweredErrors where the request may have been billed; an abort of the caller throws its reason.
 */
export function createOpenAiClient({ baseUrl, apiKey, timeoutMs }: OpenAiServer): CandidateClient {
  const url = `${baseUrl.replace(/\/+$/, "")}/chat/completions`;
  const http = ky.create({
    retry: 0,
    timeout: false, // ours covers the body too
    throwHttpErrors: false,
    redirect: "manual", // a redirected POST would arrive as a GET
    headers: {
      "content-type": "application/json",
      ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }),
    },
  });

  return {
    async ask(request, { idempotencyKey, signal }) {
      signal.throwIfAborted();
      const { model } = request;
      const deadline = new AbortController();
      const timer = setTimeout(() => deadline.abort(), timeoutMs);
      const pass = () => deadline.abort();
      signal.addEventListener("abort", pass);
      let answering = false;
      try {
        const response = await http.post(url, {
          body: requestBody(request),
          headers: { "idempotency-key": idempotencyKey },
          signal: deadline.signal,
        });
        answering = true;
        const body = await readBody(response, model);
        if (response.ok) return parseCompletion(model, body);
        const { status, headers } = response;
        const failure = classifyResponse({ status, headers, body, nowMs: Date.now() });
        throw new CandidateError(model, failure.kind, failure.detail, failure.retryAfterMs);
      } catch (error) {
        if (error instanceof CandidateError) throw error;
        signal.throwIfAborted();
        const options = { cause: error };
        if (deadline.signal.aborted) {
          const detail = `no answer came in ${timeoutMs} ms`;
          throw new UnansweredError(model, "unavailable", detail, options);
        }
        if (answering) {
          throw new UnansweredError(model, "malformed_reply", "its answer was cut short", options);
        }
        throw connectionError(model, error);
      } finally {
        clearTimeout(timer);
        signal.removeEventListener("abort", pass);
      }
    },
  };
}

async function readBody(response: Response, model: string): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  let length = 0;
  for await (const chunk of response.body ?? []) {
    length += chunk.length;
    if (length > LONGEST_BODY) {
      throw new UnansweredError(
        model,
        "malformed_reply",
        `its answer is over ${LONGEST_BODY} bytes`,
      );
    }
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

function parseCompletion(model: string, body: string): CandidateReply {
  const json = parseJson(body);
  if (json === undefined) {
    throw new UnansweredError(model, "malformed_reply", "its answer is not JSON");
  }
  const parsed = Completion.safeParse(json);
  if (!parsed.success) {
    const field = parsed.error.issues[0]?.path.join(".") ?? "";
    throw new UnansweredError(
      model,
      "malformed_reply",
      `its answer is not a chat completion: ${field || "the whole"} is missing or of another type`,
    );
  }
  const { choices: [choice], usage } = parsed.data;
  const { content, refusal } = choice!.message;
  const filtered = choice!.finish_reason === "content_filter" ||
    (typeof refusal === "string" && !content);
  return {
    text: (content ?? "").toWellFormed(), // half a surrogate pair has no UTF-8 form
    outcome: filtered ? "content_filter" : "answered",
    usage: { promptTokens: usage.prompt_tokens, completionTokens: usage.completion_tokens },
  };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A request without an answer: only a connection that never stood cannot have been billed. */
function connectionError(model: string, error: unknown): CandidateError {
  const options = { cause: error };
  return neverConnected(error)
    ? new CandidateError(model, "unavailable", "no connection could be made", null, options)
    : new UnansweredError(model, "unavailable", "the connection broke before an answer", options);
}

/** Deno names the phase of a failed request only in its message. */
function neverConnected(error: unknown): boolean {
  for (let at = error; at instanceof Error; at = at.cause) {
    if (/client error \(Connect\)|port \d+ are blocked/.test(at.message)) return true;
  }
  return false;
}
