import assert from "node:assert/strict";
import { join } from "node:path";
import { createCheckpointStore } from "../../../adapters/storage/checkpoint_store.ts";
import type { LearnerState } from "../../../core/policy/mod.ts";
import { decodeSafetensors, type Tensor, tensorsDigest } from "../../../core/storage/mod.ts";
import { withFolder } from "./_folder.ts";

const FILES = { "config.json": '{"model_type":"qwen3"}', "tokenizer.json": "{}" };
const WEIGHT = "model.norm.weight";

/** A state of one parameter whose numbers tell its step; fp32 numbers that no decimal text holds. */
function stateAt(step: number, reference = false): LearnerState {
  const numbers = (x: number): Tensor => ({ shape: [2], data: Float32Array.of(x, 1 / 3) });
  return new Map([
    [`actor/${WEIGHT}`, numbers(step)],
    [`exp_avg/${WEIGHT}`, numbers(-step)],
    [`exp_avg_sq/${WEIGHT}`, numbers(1e-40)],
    ["optimizer/step", { shape: [], data: Float32Array.of(step) }],
    ...(reference ? [[`reference/${WEIGHT}`, numbers(step + 0.5)] as const] : []),
  ]);
}

/** A store with checkpoints of these steps, and the place of its files. */
async function storeOf(dir: string, steps: readonly number[]) {
  const path = (run: string, ...parts: readonly string[]) => join(dir, run, ...parts);
  const store = createCheckpointStore(path);
  for (const step of steps) await store.save("a", "checkpoints", step, stateAt(step), FILES);
  const fileOf = (step: number, name: string) =>
    path("a", "checkpoints", `global_step_${step}`, name);
  const newest = async (atMost = Infinity) =>
    (await store.newest("a", "checkpoints", atMost))?.step ?? null;
  return { store, path, fileOf, newest };
}

Deno.test("createCheckpointStore() gives back the same bits, with and without a reference", () =>
  withFolder(async (dir) => {
    const { store } = await storeOf(dir, []);
    for (const state of [stateAt(3), stateAt(3, true)]) {
      await store.save("a", "checkpoints", 3, state, FILES);
      const found = await store.newest("a", "checkpoints", 3);
      assert.equal(found?.step, 3);
      assert.deepEqual([...found.state.keys()].sort(), [...state.keys()].sort());
      assert.equal(tensorsDigest(found.state), tensorsDigest(state));
    }
  }));

Deno.test("createCheckpointStore() keeps the actor as a Hugging Face folder", () =>
  withFolder(async (dir) => {
    const { fileOf, path } = await storeOf(dir, [3]);
    const bytes = Deno.readFileSync(fileOf(3, "actor/model.safetensors"));
    const { tensors, metadata } = decodeSafetensors(bytes);
    assert.deepEqual([...tensors.keys()], [WEIGHT]);
    assert.deepEqual(metadata, { format: "pt" });
    for (const [name, text] of Object.entries(FILES)) {
      assert.equal(Deno.readTextFileSync(fileOf(3, `actor/${name}`)), text);
    }
    const latest = path("a", "checkpoints", "latest_checkpointed_iteration.txt");
    assert.equal(Deno.readTextFileSync(latest), "3");
  }));

Deno.test("newest() finds the last complete one at or before a step, in order of numbers", () =>
  withFolder(async (dir) => {
    const { store, newest } = await storeOf(dir, [9, 0, 10]);
    assert.deepEqual(
      [await newest(), await newest(10), await newest(9), await newest(8)],
      [10, 10, 9, 0],
    );
    assert.equal(await newest(-1), null);
    assert.equal(await store.newest("a", "warm_start", 10), null);
    assert.equal(await store.newest("b", "checkpoints", 10), null);
  }));

Deno.test("newest() passes over torn and damaged checkpoints", () =>
  withFolder(async (dir) => {
    const { newest, fileOf } = await storeOf(dir, [1, 2]);
    const damages: readonly ((at: (name: string) => string) => void)[] = [
      (at) => Deno.removeSync(at("manifest.json")),
      (at) => Deno.writeTextFileSync(at("manifest.json"), '{"actor/model.saf'),
      (at) => Deno.writeTextFileSync(at("manifest.json"), "null"),
      (at) => Deno.removeSync(at("actor/optimizer.safetensors")),
      (at) => Deno.truncateSync(at("actor/model.safetensors"), 20),
      (at) => flipLastBit(at("actor/model.safetensors")),
      (at) => Deno.writeTextFileSync(at("actor/config.json"), "{}"),
    ];
    for (const damage of damages) {
      await storeOf(dir, [2]);
      assert.equal(await newest(), 2, "a checkpoint saved again is whole");
      damage((name) => fileOf(2, name));
      assert.equal(await newest(), 1, String(damage));
    }
    Deno.removeSync(fileOf(1, "manifest.json"));
    assert.equal(await newest(), null);
  }));

Deno.test("prune() removes old ones but those to spare", () =>
  withFolder(async (dir) => {
    const { store, path } = await storeOf(dir, [0, 5, 10, 15, 20]);
    const kept = () =>
      [...Deno.readDirSync(path("a", "checkpoints"))].filter((one) => one.isDirectory)
        .map(({ name }) => Number(name.slice("global_step_".length))).sort((a, b) => a - b);
    await store.prune("a", "checkpoints", 2, [0, 10]);
    assert.deepEqual(kept(), [0, 10, 15, 20]);
    await store.prune("a", "checkpoints", 1, []);
    assert.deepEqual(kept(), [20]);
    await store.prune("a", "warm_start", 1, []);
  }));

function flipLastBit(path: string): void {
  const bytes = Deno.readFileSync(path);
  bytes[bytes.length - 1]! ^= 1;
  Deno.writeFileSync(path, bytes);
}
