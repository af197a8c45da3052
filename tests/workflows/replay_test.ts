import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { bundleWorkflowCode, Worker } from "@temporalio/worker";
import { historyFromJSON } from "@temporalio/common/lib/proto-utils.js";

const HISTORIES = new URL("../_histories/", import.meta.url);
const bundle = () =>
  bundleWorkflowCode({
    workflowsPath: fileURLToPath(new URL("../../workflows/mod.ts", import.meta.url)),
  });

const quiet = { sanitizeOps: false, sanitizeResources: false }; // the native runtime outlives a test

Deno.test("workflow code replays every golden history as it was", quiet, async () => {
  const names = (await readdir(HISTORIES)).filter((name) => name.endsWith(".json"));
  assert.ok(names.length >= 4, `only ${names.length} histories are stored`);
  const workflowBundle = await bundle();
  async function* histories() {
    for (const name of names) {
      const text = await readFile(new URL(name, HISTORIES), "utf8");
      yield { workflowId: name, history: historyFromJSON(JSON.parse(text)) };
    }
  }
  const failures: string[] = [];
  let replayed = 0;
  for await (const result of Worker.runReplayHistories({ workflowBundle }, histories())) {
    replayed++;
    if (result.error !== undefined) failures.push(`${result.workflowId}: ${result.error.message}`);
  }
  assert.deepEqual(failures, []);
  assert.equal(replayed, names.length);
});

Deno.test("a history that the code would not write is found out", quiet, async () => {
  const [name] = (await readdir(HISTORIES)).filter((file) => file.startsWith("train_iteration"));
  const json = JSON.parse(await readFile(new URL(name!, HISTORIES), "utf8"));
  const scheduled = json.events.find((event: { activityTaskScheduledEventAttributes?: unknown }) =>
    event.activityTaskScheduledEventAttributes !== undefined
  );
  scheduled.activityTaskScheduledEventAttributes.activityType.name = "anotherActivity";
  async function* one() {
    yield await Promise.resolve({ workflowId: "changed", history: historyFromJSON(json) });
  }
  const results = [];
  for await (const result of Worker.runReplayHistories({ workflowBundle: await bundle() }, one())) {
    results.push(result.error?.name ?? "no error");
  }
  assert.deepEqual(results, ["DeterminismViolationError"]);
});

Deno.test("golden histories hold no question, prompt or reply", async () => {
  for (const name of await readdir(HISTORIES)) {
    const text = await readFile(new URL(name, HISTORIES), "utf8");
    const payloads = [...text.matchAll(/"data": ?"([A-Za-z0-9+/=]+)"/g)].map((match) =>
      atob(match[1]!)
    );
    assert.ok(payloads.length > 0, name);
    for (const payload of payloads) {
      assert.doesNotMatch(payload, /<(question|route|answer|information)| of /, name);
    }
  }
});
