import assert from "node:assert/strict";
import { classifyResponse, excerpt, parseRetryAfter } from "../../../core/routing/responses.ts";

const NOW = Date.parse("2026-12-01T00:00:00Z");

const kindOf = (status: number, error: unknown = null) =>
  classifyResponse({
    status,
    headers: new Headers(),
    body: error === null ? "" : JSON.stringify({ error }),
    nowMs: NOW,
  }).kind;

Deno.test("classifyResponse() tells waits, refusals and what needs an operator apart", () => {
  const statuses = {
    rate_limited: [429],
    unavailable: [302, 408, 409, 425, 500, 502, 503, 504, 529],
    bad_key: [401, 402, 403],
    bad_request: [400, 404, 405, 413, 422],
  };
  for (const [kind, all] of Object.entries(statuses)) {
    for (const status of all) assert.equal(kindOf(status), kind, `${status}`);
  }
  assert.equal(kindOf(429, { code: "insufficient_quota" }), "bad_key");
  assert.equal(kindOf(429, { type: "requests", code: "rate_limit_exceeded" }), "rate_limited");
  assert.equal(kindOf(400, { code: "content_filter" }), "content_filter");
  assert.equal(kindOf(400, { type: "content_policy_violation" }), "content_filter");
  assert.equal(kindOf(403, { code: "moderation_flagged" }), "content_filter");
  assert.equal(kindOf(500, { code: "content_filter" }), "unavailable");
  assert.equal(kindOf(400, { code: 400, type: "invalid_request_error" }), "bad_request");
});

Deno.test("classifyResponse() quotes a short escaped piece of the body only", () => {
  const body = `<b>\n"${"x".repeat(5000)}`;
  const { detail } = classifyResponse({ status: 400, headers: new Headers(), body, nowMs: NOW });
  assert.ok(detail.length < 200, detail);
  assert.ok(detail.includes('body is "<b>\\n\\"xxx'), detail);
  assert.equal(excerpt("wrong key sk-abcdef123456 given"), '"wrong key (key) given"');
});

Deno.test("parseRetryAfter() reads milliseconds, seconds and dates", () => {
  const wait = (headers: Record<string, string>) => parseRetryAfter(new Headers(headers), NOW);
  assert.equal(wait({ "retry-after-ms": "1500.2", "retry-after": "9" }), 1501);
  assert.equal(wait({ "retry-after": "2" }), 2000);
  assert.equal(wait({ "retry-after": "0.25" }), 250);
  assert.equal(wait({ "retry-after": "Tue, 01 Dec 2026 00:00:30 GMT" }), 30_000);
  assert.equal(wait({ "retry-after": "Mon, 30 Nov 2026 00:00:00 GMT" }), 0);
  assert.equal(wait({ "retry-after": "86400" }), 15 * 60_000);
  for (const text of ["", "soon", "-5", "1e9"]) {
    assert.equal(wait({ "retry-after": text }), null, text);
  }
  assert.equal(wait({}), null);
});
