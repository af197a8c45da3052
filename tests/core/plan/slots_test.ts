import assert from "node:assert/strict";
import { planDemonstrations, planEvaluation, planStep } from "../../../core/plan/mod.ts";
import { resolveConfig } from "../../../configs/resolve.ts";

const problems = Array.from({ length: 10 }, (_, i) => ({ id: `q${i}` }));
const config = (...overrides: string[]) =>
  resolveConfig({
    preset: {
      data: { train_batch_size: 4 },
      actor_rollout_ref: { rollout: { n: 2 }, actor: { ppo_mini_batch_size: 4 } },
    },
    overrides,
  });
const idsOf = (step: number, ...overrides: string[]) =>
  planStep(problems, config(...overrides), step).filter(({ rollout }) => rollout === 0)
    .map(({ problemId }) => problemId);

Deno.test("planStep() gives each slot its group", () => {
  const slots = planStep(problems, config(), 1);
  assert.deepEqual(
    slots.map(({ slot, rollout }) => [slot, rollout]),
    [[0, 0], [0, 1], [1, 0], [1, 1], [2, 0], [2, 1], [3, 0], [3, 1]],
  );
  for (let i = 0; i < slots.length; i += 2) {
    assert.equal(slots[i]!.problemId, slots[i + 1]!.problemId);
  }
});

Deno.test("planStep() plays every problem once an epoch, in another order each", () => {
  const played = [1, 2, 3, 4, 5].flatMap((step) => idsOf(step)); // 20 places: two epochs of 10
  const first = played.slice(0, 10);
  const second = played.slice(10);
  assert.deepEqual([...first].sort(), problems.map(({ id }) => id));
  assert.deepEqual([...second].sort(), problems.map(({ id }) => id));
  assert.notDeepEqual(first, second);
});

Deno.test("planStep() depends on its seed alone", () => {
  assert.deepEqual(idsOf(2), idsOf(2));
  assert.notDeepEqual(idsOf(1), idsOf(1, "trainer.seed=2"));
  assert.deepEqual(idsOf(1, "data.seed=7"), idsOf(1, "data.seed=7", "trainer.seed=2"));
  assert.deepEqual(idsOf(3, "data.shuffle=false"), ["q8", "q9", "q0", "q1"]);
  assert.throws(() => planStep([], config(), 1), RangeError);
});

Deno.test("planDemonstrations() goes round until there are enough", () => {
  const slots = planDemonstrations(
    problems,
    config("warm_start.demonstrations=25", "warm_start.batch_size=5"),
  );
  assert.equal(slots.length, 25);
  assert.equal(new Set(slots.slice(0, 10).map(({ problemId }) => problemId)).size, 10);
  assert.deepEqual(slots.map(({ slot }) => slot), Array.from({ length: 25 }, (_, i) => i));
});

Deno.test("planEvaluation() takes the first problems, or all", () => {
  assert.deepEqual(planEvaluation(problems, 2).map(({ problemId }) => problemId), ["q0", "q1"]);
  assert.equal(planEvaluation(problems, null).length, 10);
  assert.equal(planEvaluation(problems, 99).length, 10);
});
