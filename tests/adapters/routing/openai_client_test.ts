import assert from "node:assert/strict";
import { createOpenAiClient } from "../../../adapters/routing/openai_client.ts";
import { CandidateError } from "../../../core/errors.ts";
import { UnansweredError } from "../../../core/routing/mod.ts";
import { completionOf, type Fault, startFaultyServer } from "./_faulty_server.ts";

const request = {
  model: "small",
  messages: [{ role: "user", content: "q" }],
  max_tokens: 8,
} as const;

const asked = (signal = new AbortController().signal) => ({ idempotencyKey: "k/1", signal });

/** The failure a client meets with one fault. */
async function failureOf(fault: () => Fault, timeoutMs = 5_000): Promise<CandidateError> {
  await using server = startFaultyServer(fault);
  const client = createOpenAiClient({ baseUrl: server.baseUrl, timeoutMs });
  const error = await client.ask(request, asked()).then(() => null, (error) => error);
  assert.ok(error instanceof CandidateError, `${error}`);
  assert.equal(server.keys.length, 1, "asked once");
  return error;
}

Deno.test("createOpenAiClient() sends the body, the key and the idempotency key, and reads the answer", async () => {
  let authorization: string | null = null;
  await using server = startFaultyServer((_request, _count, headers) => {
    authorization = headers.get("authorization");
    return null;
  });
  const client = createOpenAiClient({
    baseUrl: `${server.baseUrl}/`,
    apiKey: "secret",
    timeoutMs: 5_000,
  });
  assert.deepEqual(await client.ask(request, asked()), {
    text: "echo: q",
    outcome: "answered",
    usage: { promptTokens: 3, completionTokens: 4 },
  });
  assert.equal(authorization, "Bearer secret");
  assert.deepEqual([...server.billed], [["k/1", 1]]);
});

Deno.test("createOpenAiClient() reads filtered and empty answers as answers", async () => {
  const bodies = [
    completionOf("stop\ud800", { finish_reason: "content_filter" }),
    completionOf(null, { message: { content: null, refusal: "no" } }),
    completionOf(null, { finish_reason: "length" }),
  ];
  await using server = startFaultyServer((_request, count) => Response.json(bodies[count - 1]));
  const client = createOpenAiClient({ baseUrl: server.baseUrl, timeoutMs: 5_000 });
  const replies = [];
  for (const _ of bodies) replies.push(await client.ask(request, asked()));
  assert.deepEqual(replies.map(({ outcome, text }) => [outcome, text]), [
    ["content_filter", "stop\ufffd"],
    ["content_filter", ""],
    ["answered", ""],
  ]);
});

Deno.test("createOpenAiClient() names a failure by its status", async () => {
  const limited = await failureOf(() =>
    new Response("slow down", { status: 429, headers: { "retry-after": "7" } })
  );
  assert.deepEqual([limited.kind, limited.retryAfterMs, limited.retryable], [
    "rate_limited",
    7000,
    true,
  ]);
  const down = await failureOf(() => new Response("oops", { status: 500 }));
  assert.deepEqual([down.kind, down.retryable], ["unavailable", true]);
  const refused = await failureOf(() =>
    Response.json({ error: { code: "context_length_exceeded" } }, { status: 400 })
  );
  assert.deepEqual([refused.kind, refused.retryable], ["bad_request", false]);
  const locked = await failureOf(() => new Response("", { status: 401 }));
  assert.equal(locked.kind, "bad_key");
  const moved = await failureOf(() =>
    new Response(null, { status: 302, headers: { location: "/v2" } })
  );
  assert.equal(moved.kind, "unavailable");
  for (const error of [limited, down, refused, locked, moved]) {
    assert.ok(!(error instanceof UnansweredError), "a refusal is not billed");
    assert.match(error.message, /^Cannot query candidate "small": status is \d+/);
  }
});

Deno.test("createOpenAiClient() takes what cannot be read for malformed and maybe billed", async () => {
  const { usage: _usage, ...unpriced } = completionOf("x");
  const faults: (() => Fault)[] = [
    () => "cut",
    () => new Response("<html>"),
    () => new Response(""),
    () => Response.json({ choices: [], usage: completionOf("x").usage }),
    () => Response.json(unpriced),
    () => Response.json({ ...unpriced, usage: { prompt_tokens: -1, completion_tokens: 1 } }),
    () => new Response(JSON.stringify(completionOf("x".repeat(5_000_000)))),
  ];
  for (const fault of faults) {
    const error = await failureOf(fault);
    assert.equal(error.kind, "malformed_reply");
    assert.ok(error instanceof UnansweredError && error.retryable);
    assert.ok(error.message.length < 200);
  }
});

Deno.test("createOpenAiClient() takes a hang and a dropped connection for an outage, maybe billed", async () => {
  const late = await failureOf(() => "hang", 50);
  assert.match(late.message, /no answer came in 50 ms/);
  assert.ok(late instanceof UnansweredError);
  assert.equal(late.kind, "unavailable");

  const listener = Deno.listen({ port: 0, hostname: "127.0.0.1" });
  const dropping = listener.accept().then(async (connection) => {
    await connection.read(new Uint8Array(1000));
    connection.close();
  });
  const baseUrl = `http://127.0.0.1:${listener.addr.port}/v1`;
  const client = createOpenAiClient({ baseUrl, timeoutMs: 5_000 });
  const dropped = await client.ask(request, asked()).then(() => null, (error) => error);
  assert.ok(dropped instanceof UnansweredError, `${dropped}`);
  assert.equal(dropped.kind, "unavailable");
  await dropping;
  listener.close();
});

Deno.test("createOpenAiClient() knows that a connection that never stood was not billed", async () => {
  const listener = Deno.listen({ port: 0, hostname: "127.0.0.1" });
  const { port } = listener.addr;
  listener.close();
  for (const host of [`127.0.0.1:${port}`, "no-such-host.invalid"]) {
    const client = createOpenAiClient({ baseUrl: `http://${host}/v1`, timeoutMs: 5_000 });
    const error = await client.ask(request, asked()).then(() => null, (error) => error);
    assert.ok(error instanceof CandidateError && !(error instanceof UnansweredError), `${error}`);
    assert.equal(error.kind, "unavailable");
  }
});

Deno.test("createOpenAiClient() lets the caller's abort through", async () => {
  const abort = new AbortController();
  const reason = new Error("stopped");
  await using server = startFaultyServer(() => {
    abort.abort(reason);
    return "hang";
  });
  const client = createOpenAiClient({ baseUrl: server.baseUrl, timeoutMs: 5_000 });
  await assert.rejects(client.ask(request, asked(abort.signal)), reason);
  await assert.rejects(client.ask(request, asked(abort.signal)), reason);
  assert.equal(server.keys.length, 1, "an aborted call does not leave");
});
