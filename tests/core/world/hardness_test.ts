import assert from "node:assert/strict";
import { RewardConfig } from "../../../configs/reward.ts";
import { WorldConfig } from "../../../configs/world.ts";
import { regretInterval, scoreTrajectory } from "../../../core/rewards/mod.ts";
import type { Script } from "../../../core/rollouts/mod.ts";
import {
  answerQuestion,
  buildWorld,
  countUsage,
  createWorld,
  decompose,
  decoyOf,
} from "../../../core/world/mod.ts";
import { createPlayer } from "../../_support/play.ts";

const reward = RewardConfig.parse({});

for (
  const given of [
    {},
    { seed: 5, entities: 120, relations: 12, train_size: 2000, test_size: 200 },
    { seed: 9, entities: 300, relations: 24, test_size: 200 },
  ]
) {
  const config = WorldConfig.parse(given);
  const { seed, entities, relations } = config;
  Deno.test(`world ${seed} of ${entities} entities, ${relations} relations is hard and solvable`, () => {
    const environment = createWorld(config);
    const world = buildWorld(config);
    const play = createPlayer(environment, (model, question) => {
      const { text } = answerQuestion(world, model, question);
      return { text, usage: countUsage([question], text) };
    });
    const problems = environment.problems("test");
    const optima = problems.map((problem) => environment.optimum(problem, reward.cost_coe));
    const regretOf = (script: Script) =>
      regretInterval(
        problems.map((problem, slot) =>
          scoreTrajectory(problem, play(problem, slot, script), reward)!.reward
        ),
        optima,
      ).value;
    const named = (name: string) => regretOf(environment.script(name));

    assert.ok(named("random") >= 0.5);
    const fixed = environment.baselines.filter((name) => name.startsWith("fixed:")).map(named);
    assert.equal(fixed.length, 8);
    assert.ok(Math.min(...fixed) >= 0.4);
    assert.ok(named("demonstrator") >= 0.3);
    // the greedy policy of a perfect imitation asks the most frequent model, the decoy
    assert.ok(regretOf(decompose(world, (relation) => decoyOf(world, relation))) >= 0.3);
    assert.ok(Math.abs(named("oracle")) < 1e-12);
    // who knows only the owners comes close: the rest is whole questions and lucky replies
    const informed = regretOf(
      decompose(world, (relation) => world.owners.get(relation)!.candidate.name),
    );
    assert.ok(informed > 0 && informed < 0.06, `informed ${informed}`);
  });
}
