import assert from "node:assert/strict";
import { createReplayClient } from "../../../adapters/routing/replay_client.ts";

const client = createReplayClient({
  questions: [{
    id: "q",
    question: "who wrote it",
    goldenAnswers: [],
    split: "train",
    tokens: 3,
    answers: new Map([["m1", { text: "Ann did", correct: true, tokens: 2 }]]),
  }],
});
const ask = (model: string, content: string, signal = new AbortController().signal) =>
  client.ask({ model, messages: [{ role: "user", content }], max_tokens: 9 }, {
    idempotencyKey: "k",
    signal,
  });

Deno.test("createReplayClient() answers from the recordings with their token counts", async () => {
  assert.deepEqual(await ask("m1", "who wrote it"), {
    text: "Ann did",
    outcome: "answered",
    usage: { promptTokens: 3, completionTokens: 2 },
  });
});

Deno.test("createReplayClient() refuses what was never recorded", async () => {
  const refused = { name: "CandidateError", kind: "bad_request", retryable: false };
  await assert.rejects(ask("m1", "who wrote that"), refused);
  await assert.rejects(ask("m2", "who wrote it"), refused);
});

Deno.test("createReplayClient() heeds an abort", async () => {
  const reason = new Error("stop");
  await assert.rejects(ask("m1", "who wrote it", AbortSignal.abort(reason)), reason);
});
