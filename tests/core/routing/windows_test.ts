import assert from "node:assert/strict";
import { createSendWindows, type SendWindows } from "../../../core/routing/windows.ts";

function admitAll(windows: SendWindows, model: string): number {
  let count = 0;
  while (windows.admit(model)) count++;
  return count;
}

Deno.test("createSendWindows() starts a model with four calls and grows by its answers", () => {
  const windows = createSendWindows();
  assert.equal(admitAll(windows, "a"), 4);
  windows.end("a", "answered");
  windows.end("a", "content_filter");
  assert.equal(admitAll(windows, "a"), 4, "two places freed, two gained");
  assert.equal(admitAll(windows, "b"), 4, "models do not share");
  windows.withdraw("b");
  assert.equal(admitAll(windows, "b"), 1);
});

Deno.test("createSendWindows() closes a model at a rate limit, or after three failures in a row", () => {
  const windows = createSendWindows();
  for (const model of ["a", "b", "c"]) admitAll(windows, model);
  windows.end("a", "rate_limited");
  assert.equal(windows.closedBy("a"), "rate_limited");
  assert.equal(windows.admit("a"), false);

  for (const how of ["unavailable", "malformed_reply", "answered", "unavailable"] as const) {
    windows.end("b", how);
  }
  assert.equal(windows.closedBy("b"), null, "an answer between starts the count again");

  for (let i = 0; i < 3; i++) windows.end("c", "unavailable");
  assert.equal(windows.closedBy("c"), "unavailable");
});

Deno.test("createSendWindows() takes many refusals in a row for a wrong setting", () => {
  const windows = createSendWindows();
  for (let i = 0; i < 15; i++) {
    windows.admit("a");
    windows.end("a", "bad_request");
  }
  assert.equal(windows.closedBy("a"), null);
  windows.admit("a");
  windows.end("a", "bad_request");
  assert.equal(windows.closedBy("a"), "bad_request");
});
