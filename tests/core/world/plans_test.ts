import assert from "node:assert/strict";
import { WorldConfig } from "../../../configs/world.ts";
import {
  answerQuestion,
  buildWorld,
  countUsage,
  createWorld,
  findCheapestPlan,
  formatChain,
  MAX_CALLS,
  parseChain,
  rewardOf,
  type World,
} from "../../../core/world/mod.ts";
import { priceOf } from "../../../core/routing/mod.ts";

/** Every chain of calls about any entity replied so far, one after another: slow and obvious. */
function bruteForce(world: World, question: string, answer: string): number {
  const { relations, entity } = parseChain(world, question)!;
  const walk = (known: readonly string[], made: number): number => {
    if (made === MAX_CALLS) return Infinity;
    const texts = known.flatMap((at) =>
      relations.map((relation) => formatChain({ relations: [relation], entity: at }))
    );
    let cheapest = Infinity;
    for (const text of [question, ...texts]) {
      for (const [model, { candidate }] of world.specialists) {
        const reply = answerQuestion(world, model, text).text;
        const cost = priceOf(candidate.price, countUsage([text], reply));
        const rest = reply === answer
          ? 0
          : walk(world.entityIndex.has(reply) ? [...known, reply] : known, made + 1);
        cheapest = Math.min(cheapest, cost + rest);
      }
    }
    return cheapest;
  };
  return walk([entity], 0);
}

Deno.test("findCheapestPlan() costs what the best of all chains of calls costs", () => {
  const config = WorldConfig.parse({
    seed: 3,
    entities: 16,
    relations: 8,
    train_size: 8,
    dev_size: 2,
    test_size: 12,
  });
  const world = buildWorld(config);
  const lengths = new Set<number>();
  for (const { question, golden_answers } of createWorld(config).problems("test")) {
    const plan = findCheapestPlan(world, question)!;
    assert.equal(plan.costPico, bruteForce(world, question, golden_answers[0]!), question);
    lengths.add(plan.calls.length);
    // the plan itself is what it says
    const replies = plan.calls.map(({ model, question }) => answerQuestion(world, model, question));
    assert.equal(replies.at(-1)!.text, golden_answers[0]);
  }
  assert.ok(lengths.has(1) && lengths.has(2));
});

Deno.test("rewardOf() is 1 less the priced cost and never below 0", () => {
  const plan = { calls: [], costPico: 4e9 };
  assert.equal(rewardOf(plan, 100), 0.6);
  assert.equal(rewardOf(plan, 1000), 0);
  assert.equal(rewardOf(null, 0), 0);
});

Deno.test("findCheapestPlan() refuses what is no question", () => {
  const world = buildWorld(WorldConfig.parse({}));
  assert.throws(() => findCheapestPlan(world, "what is love"), RangeError);
});
