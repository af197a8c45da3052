import assert from "node:assert/strict";
import { WorldConfig } from "../../../configs/world.ts";
import type { Problem } from "../../../core/data/problems.ts";
import { priceOf } from "../../../core/routing/mod.ts";
import {
  answerQuestion,
  bestPlan,
  createFacts,
  createWorld,
  type Facts,
  usageOf,
} from "../../../core/world/mod.ts";

/** Every chain of calls, one after another: slow and obvious. */
function bruteForce(facts: Facts, problem: Problem, costCoe: number, maxCalls: number): number {
  const { entity, hops } = problem.extra_info as { entity: string; hops: string[] };
  let best = 0;
  const walk = (at: string, cost: number, made: number) => {
    if (made > 0 && at === problem.golden_answers[0]) {
      best = Math.max(best, 1 - costCoe * cost / 1e12);
    }
    if (made === maxCalls || at === "unknown") return;
    const questions = hops.map((hop) => `${hop} of ${at}`);
    if (made === 0 && hops.length > 1) questions.push(problem.question);
    for (const question of questions) {
      for (const { name, price } of facts.candidates) {
        const reply = answerQuestion(facts, name, question);
        walk(reply, cost + priceOf(price, usageOf(question, reply)), made + 1);
      }
    }
  };
  walk(entity, 0, 0);
  return best;
}

Deno.test("bestPlan() finds what trying every chain of calls finds", () => {
  const config = WorldConfig.parse({ seed: 3, entities: 20, relations: 8, test_questions: 24 });
  const facts = createFacts(config);
  let multi = 0;
  for (const problem of createWorld(config).problems("test")) {
    for (const costCoe of [0, 100, 900]) {
      const { reward, calls } = bestPlan(facts, problem, costCoe, 3);
      assert.ok(
        Math.abs(reward - bruteForce(facts, problem, costCoe, 3)) < 1e-12,
        problem.question,
      );
      if (calls.length > 1) multi++;
    }
  }
  assert.ok(multi > 10);
});
