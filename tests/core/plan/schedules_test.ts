import assert from "node:assert/strict";
import { cosine, isDue, warmUp } from "../../../core/plan/mod.ts";

Deno.test("warmUp() rises in equal steps, then stays", () => {
  assert.deepEqual([0, 1, 3, 4, 100].map((at) => warmUp(8, at, 4)), [2, 4, 8, 8, 8]);
  assert.equal(warmUp(8, 0, 0), 8);
});

Deno.test("cosine() falls from lr through its half to 0", () => {
  assert.equal(cosine(4, 0, 10), 4);
  assert.ok(Math.abs(cosine(4, 5, 10) - 2) < 1e-12);
  assert.equal(cosine(4, 10, 10), 0);
});

Deno.test("isDue() is true every freq steps and after the last, never for freq below 1", () => {
  const due = (freq: number) => [1, 2, 3, 4, 5].filter((step) => isDue(step, freq, 5));
  assert.deepEqual(due(2), [2, 4, 5]);
  assert.deepEqual(due(1), [1, 2, 3, 4, 5]);
  assert.deepEqual(due(-1), []);
  assert.deepEqual(due(0), []);
});
