import assert from "node:assert/strict";
import { decodeBatch, encodeBatch, type StepBatch } from "../../../core/algorithms/mod.ts";
import { DamagedArtifactError } from "../../../core/errors.ts";

Deno.test("decodeBatch() gives back what encodeBatch() wrote", () => {
  const batch: StepBatch = {
    rows: [
      { tokenIds: [5, 6, 7], responseMask: [0, 1, 1], arrays: { advantages: [0, 0.5, 0.5] } },
      { tokenIds: [16777215], responseMask: [1], arrays: { advantages: [-2] } },
    ],
    metrics: { "critic/rewards/mean": 0.25 },
  };
  assert.deepEqual(decodeBatch(encodeBatch(batch)), batch);
  const empty = { rows: [], metrics: {} };
  assert.deepEqual(decodeBatch(encodeBatch(empty)), empty);
});

Deno.test("decodeBatch() refuses a file cut short", () => {
  const bytes = encodeBatch({
    rows: [{ tokenIds: [1, 2], responseMask: [0, 1], arrays: {} }],
    metrics: {},
  });
  assert.throws(() => decodeBatch(bytes.subarray(0, -4)), DamagedArtifactError);
});
