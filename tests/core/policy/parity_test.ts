import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { LOSSES } from "../../../core/algorithms/mod.ts";
import {
  buildLearnGraph,
  LOSS_INPUTS,
  type ModelConfig,
  parameterShapes,
} from "../../../core/policy/mod.ts";
import { decodeSafetensors } from "../../../core/storage/tensors.ts";
import { type Fed, runGraph } from "../../_support/onnx.ts";

const VECTORS = new URL("../../_vectors/qwen3_gradients.safetensors", import.meta.url);

Deno.test("loss and every gradient of a 2-layer Qwen3 equal PyTorch's", async () => {
  const { tensors, metadata } = decodeSafetensors(await readFile(VECTORS));
  const config = JSON.parse(metadata["config"]!) as ModelConfig;
  const tokens = tensors.get("token_ids")!;
  const mask = tensors.get("mask")!;
  const [rows, length] = tokens.shape as [number, number];
  const flat = { data: mask.data.map(() => 0), shape: mask.shape };
  const feeds: Record<string, Fed> = {
    token_ids: { ...tokens, dtype: "int64" },
    mask,
    advantages: flat,
    old_log_probs: flat,
    ref_log_probs: flat,
    loss_numbers: {
      data: [1 / mask.data.reduce((sum, x) => sum + x, 0), 0, 0, 0, 0],
      shape: [LOSS_INPUTS.length],
    },
  };
  const shapes = parameterShapes(config);
  for (const [name, shape] of shapes) {
    assert.deepEqual(tensors.get(name)!.shape, shape, name);
    feeds[name] = tensors.get(name)!;
    feeds[`grad/${name}`] = { data: new Float32Array(tensors.get(name)!.data.length), shape };
  }
  const outputs = await runGraph(buildLearnGraph(config, { rows, length }, LOSSES.sft), feeds);

  const loss = tensors.get("loss")!.data[0]!;
  assert.ok(Math.abs(outputs["sum/loss"]![0]! - loss) < 1e-5 * loss);
  let worst = { name: "", error: 0 };
  for (const name of shapes.keys()) {
    const error = relativeError(outputs[`grad/${name}.out`]!, tensors.get(`grad/${name}`)!.data);
    if (error > worst.error) worst = { name, error };
  }
  assert.ok(worst.error <= 1e-4, `${worst.name}: relative L2 error ${worst.error}`);
  assert.equal(shapes.size, 24);
});

/** ‖a − b‖ / ‖b‖ */
function relativeError(a: Float32Array, b: Float32Array): number {
  const norm = (x: (i: number) => number) => Math.sqrt(b.reduce((sum, _, i) => sum + x(i) ** 2, 0));
  return norm((i) => a[i]! - b[i]!) / norm((i) => b[i]!);
}
