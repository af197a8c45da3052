import assert from "node:assert/strict";
import { pairedRegretDifference, regretInterval } from "../../../core/rewards/mod.ts";

const near = (a: number, b: number, within: number) =>
  assert.ok(Math.abs(a - b) <= within, `${a} is not within ${within} of ${b}`);

Deno.test("regretInterval() of many coin throws is the normal one: ±1.96 · √(p q / n)", () => {
  const rewards = Array.from({ length: 400 }, (_, i) => i % 2);
  const optima = rewards.map(() => 1);
  const { value, low, high } = regretInterval(rewards, optima, 3);
  assert.equal(value, 0.5);
  near(low, 0.451, 0.006);
  near(high, 0.549, 0.006);
  assert.deepEqual(regretInterval(rewards, optima, 3), { value, low, high });
  assert.notDeepEqual(regretInterval(rewards, optima, 4), { value, low, high });
});

Deno.test("regretInterval() is one less summed reward over summed optimum", () => {
  assert.equal(regretInterval([0.5, 0.1], [1, 0.5]).value, 1 - 0.6 / 1.5);
  // each question's own ratio is 1/4, so every resample agrees
  const { low, high } = regretInterval([0.25, 0.125, 0.25], [1, 0.5, 1]);
  near(low, 0.75, 1e-12);
  near(high, 0.75, 1e-12);
  assert.deepEqual(regretInterval([0, 0], [0, 0]), { value: 0, low: 0, high: 0 });
  assert.throws(() => regretInterval([1], [1, 1]), RangeError);
  assert.throws(() => regretInterval([], []), RangeError);
});

Deno.test("pairedRegretDifference() is narrow where both err on the same questions", () => {
  const optima = Array.from({ length: 200 }, () => 1);
  const ours = optima.map((_, i) => i % 2);
  const others = ours.map((reward) => reward - 0.1);
  const { value, low, high } = pairedRegretDifference(others, ours, optima);
  for (const one of [value, low, high]) near(one, 0.1, 1e-12);
  assert.ok(regretInterval(ours, optima).high - regretInterval(ours, optima).low > 0.1);
});
