import assert from "node:assert/strict";
import { groupAdvantages } from "../../../core/algorithms/mod.ts";

function assertClose(got: readonly number[], want: readonly number[]): void {
  assert.equal(got.length, want.length);
  got.forEach((x, i) => assert.ok(Math.abs(x - want[i]!) < 1e-5, `[${got}] is not [${want}]`));
}

Deno.test("groupAdvantages() divides by the deviation with n − 1", () => {
  // mean 2, squares 1 + 0 + 1, deviation 1
  assertClose(groupAdvantages([1, 2, 3], { normByStd: true }), [-1, 0, 1]);
  // mean 0.25, squares 0.75, deviation 0.5
  assertClose(groupAdvantages([1, 0, 0, 0], { normByStd: true }), [1.5, -0.5, -0.5, -0.5]);
});

Deno.test("groupAdvantages() without the deviation is Dr.GRPO", () => {
  assertClose(groupAdvantages([1, 0, 0, 0], { normByStd: false }), [0.75, -0.25, -0.25, -0.25]);
});

Deno.test("groupAdvantages() leaves dropped rollouts out of the baseline and gives them 0", () => {
  assertClose(groupAdvantages([1, null, 3], { normByStd: false }), [-1, 0, 1]);
});

Deno.test("groupAdvantages() is exactly 0 for equal rewards, one reward and none", () => {
  assert.deepEqual(groupAdvantages([0.1, 0.1, 0.1], { normByStd: true }), [0, 0, 0]);
  assert.deepEqual(groupAdvantages([0.7, null], { normByStd: true }), [0, 0]);
  assert.deepEqual(groupAdvantages([null, null], { normByStd: true }), [0, 0]);
});
