import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { Buffer } from "node:buffer";
import { bundleWorkflowCode, Worker } from "@temporalio/worker";
import { historyFromJSON } from "@temporalio/common/lib/proto-utils.js";
import { loadPreset } from "../../adapters/data/presets.ts";
import { resolveConfig } from "../../configs/resolve.ts";
import { buildWorld } from "../../core/world/mod.ts";

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
      const json = JSON.parse(text);
      const { workflowId } = json.events[0].workflowExecutionStartedEventAttributes;
      yield { workflowId, history: historyFromJSON(json) };
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
  const config = resolveConfig({ preset: await loadPreset("micro"), overrides: [] });
  const world = buildWorld(config.world);
  const words = new RegExp(`\\b(${[...world.entities, ...world.relations].join("|")})\\b`);
  for (const name of await readdir(HISTORIES)) {
    const text = await readFile(new URL(name, HISTORIES), "utf8");
    const data = [...text.matchAll(/"data": ?"([A-Za-z0-9+/=]+)"/g)];
    const payloads = data.map((match) => Buffer.from(match[1]!, "base64").toString());
    assert.ok(payloads.length > 3, name);
    for (const payload of payloads) assert.doesNotMatch(payload, words, name);
  }
  assert.match(`${world.relations[0]} of ${world.entities[0]}`, words);
});
