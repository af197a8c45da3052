import assert from "node:assert/strict";
import { WorldConfig } from "../../../configs/world.ts";
import { RewardConfig } from "../../../configs/reward.ts";
import { regretInterval, scoreTrajectory } from "../../../core/rewards/mod.ts";
import type { Script } from "../../../core/rollouts/mod.ts";
import { answerQuestion, createFacts, createWorld, usageOf } from "../../../core/world/mod.ts";
import { createPlayer } from "../../_support/play.ts";

const WORLDS = [
  WorldConfig.parse({}),
  WorldConfig.parse({ seed: 5, entities: 120, relations: 12 }),
  WorldConfig.parse({ seed: 9, entities: 300, relations: 24 }),
];
const reward = RewardConfig.parse({});

/** Regret of a script on the world's test questions. */
function createJudge(config: WorldConfig): (script: Script) => number {
  const world = createWorld(config);
  const facts = createFacts(config);
  const play = createPlayer(world, (model, question) => {
    const text = answerQuestion(facts, model, question);
    return { text, usage: usageOf(question, text) };
  });
  const problems = world.problems("test");
  const optima = problems.map((problem) => world.optimum(problem, reward.cost_coe));
  return (script) => {
    const rewards = problems.map((problem, slot) =>
      scoreTrajectory(problem, play(problem, slot, script), reward)!.reward
    );
    return regretInterval(rewards, optima).value;
  };
}

for (const config of WORLDS) {
  const name = `world ${config.seed} of ${config.entities} entities, ${config.relations} relations`;
  Deno.test(`${name} is hard for random, fixed and demonstrated routing, and solvable`, () => {
    const world = createWorld(config);
    const judge = createJudge(config);
    const regret = Object.fromEntries(
      world.baselines.map((name) => [name, judge(world.script(name))]),
    );
    assert.ok(regret["random"]! >= 0.5, `random ${regret["random"]}`);
    const fixed = Object.entries(regret).filter(([name]) => name.startsWith("fixed:"));
    assert.equal(fixed.length, 8);
    for (const [name, value] of fixed) assert.ok(value >= 0.4, `${name} ${value}`);
    assert.ok(judge(world.script("demonstrator")) >= 0.3);
    assert.equal(regret["oracle"], 0);
    // who knows only owners and prices comes close to the optimum: the rest is luck
    const facts = createFacts(config);
    const informed: Script = ({ extra_info }, { calls }) => {
      const { entity, hops } = extra_info as { entity: string; hops: string[] };
      const hop = hops[calls.length];
      return hop === undefined
        ? `<answer from="${calls.length}"/>`
        : `<route model="${facts.owner.get(hop)}">${hop} of ${
          calls.at(-1)?.text ?? entity
        }</route>`;
    };
    const floor = judge(informed);
    assert.ok(floor > 0 && floor < 0.06, `informed ${floor}`);
  });
}

Deno.test("a world is a function of its config", () => {
  const [a, b] = [createWorld(WORLDS[1]!), createWorld(WORLDS[1]!)];
  assert.deepEqual(a.problems("test"), b.problems("test"));
  assert.equal(a.tokenizerJson, b.tokenizerJson);
  assert.notDeepEqual(a.problems("test"), createWorld({ ...WORLDS[1]!, seed: 6 }).problems("test"));
});

Deno.test("no held-out question's first pair is one of training", () => {
  const world = createWorld(WORLDS[0]!);
  const pair = ({ extra_info }: { extra_info: Readonly<Record<string, unknown>> }) => {
    const { entity, hops } = extra_info as { entity: string; hops: string[] };
    return `${hops[0]} of ${entity}`;
  };
  const train = new Set(world.problems("train").map(pair));
  for (const split of ["dev", "test"] as const) {
    assert.ok(world.problems(split).every((problem) => !train.has(pair(problem))));
  }
  assert.equal(world.problems("test").length, WORLDS[0]!.test_questions);
  const twoHop = world.problems("test").filter(({ question }) =>
    question.split(" of ").length === 3
  );
  assert.equal(twoHop.length, WORLDS[0]!.test_questions / 2);
});

Deno.test("specialists answer any text, the same every time, and only the owner is always right", () => {
  const facts = createFacts(WORLDS[0]!);
  assert.equal(answerQuestion(facts, "atlas", "what is love"), "unknown");
  for (const relation of facts.relations) {
    for (const entity of facts.entities.slice(0, 20)) {
      const text = `${relation} of ${entity}`;
      const truth = facts.follow(relation, entity);
      for (const { name } of facts.candidates) {
        const reply = answerQuestion(facts, name, text);
        assert.equal(reply, answerQuestion(facts, name, text));
        assert.equal(reply === truth, facts.owner.get(relation) === name, `${name}: ${text}`);
      }
    }
  }
});
