import assert from "node:assert/strict";
import { WorldConfig } from "../../../configs/world.ts";
import type { Problem } from "../../../core/data/problems.ts";
import { priceOf } from "../../../core/routing/mod.ts";
import {
  answerQuestion,
  buildWorld,
  countTokens,
  countUsage,
  createWorld,
  factOf,
  parseChain,
  UNKNOWN,
} from "../../../core/world/mod.ts";
import { shareRelations } from "../../../core/world/world.ts";

const config = WorldConfig.parse({});
const world = buildWorld(config);

Deno.test("a world is a function of its config", () => {
  const [a, b] = [createWorld(config), createWorld(config)];
  assert.deepEqual(a.problems("test"), b.problems("test"));
  assert.equal(a.tokenizerJson, b.tokenizerJson);
  const other = createWorld({ ...config, seed: 2 });
  assert.notDeepEqual(a.problems("test"), other.problems("test"));
  const fewer = createWorld({ ...config, test_size: 50 });
  assert.deepEqual(fewer.problems("test"), a.problems("test").slice(0, 50));
});

Deno.test("names are distinct words, and eight specialists share the relations", () => {
  const names = [...world.entities, ...world.relations, ...world.specialists.keys()];
  assert.equal(new Set(names).size, 200 + 16 + 8);
  assert.ok(names.every((name) => /^[a-z]{6}$/.test(name)));
  assert.equal(world.owners.size, 16);
  assert.deepEqual(shareRelations(16), [4, 3, 2, 2, 2, 1, 1, 1]);
  for (let count = 8; count <= 64; count++) {
    const owned = shareRelations(count);
    assert.equal(owned.reduce((sum, n) => sum + n, 0), count);
    assert.ok(owned.length === 8 && owned.every((n) => n >= 1));
  }
});

Deno.test("a one-hop call costs $0.0002 … $0.0010, each price once", () => {
  const usage = countUsage(["r of e"], "x");
  assert.deepEqual(usage, { promptTokens: 3, completionTokens: 1 });
  const costs = [...world.specialists.values()]
    .map(({ candidate }) => priceOf(candidate.price, usage)).sort((a, b) => a - b);
  assert.equal(costs[0], 2e8);
  assert.equal(costs.at(-1), 1e9);
  assert.equal(new Set(costs).size, 8);
  assert.ok(costs.every(Number.isSafeInteger));
});

Deno.test("factOf() never leads to the entity itself", () => {
  for (const relation of world.relations) {
    for (const entity of world.entities) {
      const fact = factOf(world, relation, entity);
      assert.ok(fact !== entity && world.entityIndex.has(fact));
    }
  }
});

Deno.test("answerQuestion() is right for the owner alone, and declines half of the rest", () => {
  let declined = 0;
  let others = 0;
  for (const relation of world.relations) {
    for (const entity of world.entities) {
      const right = factOf(world, relation, entity);
      const question = `${relation} of ${entity}`;
      for (const [model, { relations }] of world.specialists) {
        const { text, known } = answerQuestion(world, model, question);
        assert.equal(known, relations.has(relation));
        assert.equal(text === right, known, `${model}: ${question}`);
        if (!known) others++;
        if (text === UNKNOWN) declined++;
      }
    }
  }
  assert.ok(Math.abs(declined / others - 0.5) < 0.02);
});

Deno.test("answerQuestion() knows a whole two-hop question only where it owns both relations", () => {
  let both = 0;
  for (const { question, golden_answers } of createWorld(config).problems("test")) {
    const { relations } = parseChain(world, question)!;
    if (relations.length < 2) continue;
    for (const [model, one] of world.specialists) {
      const owns = relations.every((relation) => one.relations.has(relation));
      if (owns) both++;
      assert.equal(answerQuestion(world, model, question).text === golden_answers[0], owns);
    }
  }
  assert.ok(both > 0);
});

Deno.test("answerQuestion() is total over texts", () => {
  const [model] = world.specialists.keys();
  const [entity] = world.entities;
  const [relation] = world.relations;
  for (const text of ["", " of ", entity!, `of ${entity}`, `${relation} of x`, "\u0000 é 🙂"]) {
    assert.deepEqual(answerQuestion(world, model!, text), { text: UNKNOWN, known: false });
  }
  assert.deepEqual(
    answerQuestion(world, model!, ` ${relation} of ${entity}\n`),
    answerQuestion(world, model!, `${relation} of ${entity}`),
  );
  assert.throws(() => answerQuestion(world, "nobody", ""), RangeError);
});

Deno.test("countTokens() counts words and marks", () => {
  assert.equal(countTokens(""), 0);
  assert.equal(countTokens("bandor of limako?"), 4);
});

Deno.test("no held-out question begins with a pair of training, and hops take turns", () => {
  const environment = createWorld(config);
  const pairOf = ({ question }: Problem) => {
    const { relations, entity } = parseChain(world, question)!;
    return `${relations[0]} of ${entity}`;
  };
  const train = new Set(environment.problems("train").map(pairOf));
  const dev = new Set(environment.problems("dev").map(pairOf));
  const sizes = { train: 4000, dev: 200, test: 400 };
  const ids = new Set<string>();
  for (const split of ["train", "dev", "test"] as const) {
    const problems = environment.problems(split);
    assert.equal(problems.length, sizes[split]);
    assert.equal(new Set(problems.map(({ question }) => question)).size, sizes[split]);
    problems.forEach((problem, i) => {
      ids.add(problem.id);
      const { relations, entity } = parseChain(world, problem.question)!;
      assert.equal(relations.length, 1 + i % 2);
      assert.notEqual(problem.golden_answers[0], entity);
      if (split !== "train") assert.ok(!train.has(pairOf(problem)));
      if (split === "test") assert.ok(!dev.has(pairOf(problem)));
    });
  }
  assert.equal(ids.size, 4600);
});

Deno.test("the largest sizes that a config allows have distinct questions; larger ones are refused", () => {
  const small = { entities: 16, relations: 8, train_size: 178, dev_size: 24, test_size: 50 };
  const environment = createWorld(WorldConfig.parse(small));
  for (const split of ["train", "dev", "test"] as const) {
    const questions = environment.problems(split).map(({ question }) => question);
    assert.equal(new Set(questions).size, small[`${split}_size`]);
    const larger = { ...small, [`${split}_size`]: small[`${split}_size`] + 1 };
    assert.match(WorldConfig.safeParse(larger).error!.issues[0]!.message, /at most \d+ questions/);
  }
  assert.equal(WorldConfig.safeParse({ relations: 7 }).success, false);
});
