import assert from "node:assert/strict";
import { promptTokensAtMost, requestBody, reservationOf } from "../../../core/routing/requests.ts";

const price = { promptPico: 2, completionPico: 3, version: "2026-01-01" };

Deno.test("requestBody() keeps one order of members and adds none", () => {
  const body = '{"model":"m","messages":[{"role":"user","content":"q"}],"max_tokens":9}';
  const message = { content: "q", role: "user", name: "x" } as const;
  assert.equal(requestBody({ max_tokens: 9, messages: [message], model: "m" }), body);
});

Deno.test("promptTokensAtMost() counts UTF-8 bytes and the template", () => {
  const text = "aé€😀\ud800";
  const content = new TextEncoder().encode(text).length;
  assert.equal(content, 1 + 2 + 3 + 4 + 3);
  const request = {
    model: "m",
    messages: [{ role: "user", content: text }] as const,
    max_tokens: 1,
  };
  assert.equal(promptTokensAtMost(request), 16 + 16 + content);
});

Deno.test("reservationOf() is the price of the longest prompt and answer", () => {
  assert.equal(reservationOf(price, 10, 100), 2 * 10 + 3 * 100);
  assert.throws(() => reservationOf({ ...price, promptPico: 2 ** 40 }, 2 ** 20, 1), RangeError);
});
