import assert from "node:assert/strict";
import { InvalidConfigError } from "../../../core/errors.ts";
import { createRandom } from "../../../core/random.ts";
import {
  createRecordedEnvironment,
  createRecordedPool,
  parsePoolDescription,
  parseRecordedQuestions,
} from "../../../core/recorded/mod.ts";
import {
  type Environment,
  holdfastProtocol,
  startTrajectory,
  takeReplies,
  takeTurn,
  type Trajectory,
} from "../../../core/rollouts/mod.ts";
import { scoreTrajectory } from "../../../core/rewards/mod.ts";
import { createReplayClient } from "../../../adapters/routing/replay_client.ts";
import { charTokenizer } from "../../_support/char_tokenizer.ts";

const REWARD = { reward_metric: "em", cost_coe: 100, format_penalty: 0.1 } as const;

const DESCRIPTION = parsePoolDescription({
  name: "test",
  questions: "q",
  tokenizer: "t",
  prices: "p",
  end_of_text: "<|end|>",
  candidates: ["low", "mid", "top"].map((name) => ({ name, description: "" })),
  cascade: { first: "low", check: "mid", fallback: "top" },
});
const PRICES = {
  version: "2026-01-01",
  models: Object.fromEntries(
    [["low", 1], ["mid", 10], ["top", 100]].map(([name, usd]) => [name, {
      prompt_usd_per_million: usd,
      completion_usd_per_million: usd,
    }]),
  ),
};

function line(id: string, split: string, ...answers: [string | null, boolean][]): string {
  return JSON.stringify({
    id,
    question: `question ${id}`,
    golden_answers: ["Ann"],
    split,
    tokens: 4,
    answers: Object.fromEntries(["low", "mid", "top"].map((name, i) => {
      const [text, correct] = answers[i]!;
      return [name, { text, correct, tokens: text === null ? null : 6 }];
    })),
  });
}

const QUESTIONS = [
  line("agree", "train", ["Ann", true], ["It was the Ann!", true], ["Ann", true]),
  line("differ", "train", ["Bob", false], ["It was Cy", false], ["Ann", true]),
  line("lost", "train", [null, false], ["It was Ann", true], ["Ann", true]),
  line("hopeless", "train", ["Bob", false], ["Cy", false], ["Di", false]),
  ...Array.from(
    { length: 12 },
    (_, i) => line(`held${i}`, "dev", ["Ann", true], ["B", false], ["C", false]),
  ),
].join("\n");

const pool = createRecordedPool(DESCRIPTION, {
  questions: QUESTIONS,
  prices: PRICES,
  tokenizer: "{}",
});
const environment = createRecordedEnvironment(pool);
const find = (id: string) => environment.problems("train").find((problem) => problem.id === id)!;

async function play(name: string, id: string, seed = 1): Promise<Trajectory> {
  const problem = find(id);
  const rules = {
    problem,
    protocol: holdfastProtocol,
    tokenizer: charTokenizer,
    candidates: environment.candidates,
    verbatimOnly: environment.verbatimOnly,
    maxTurns: 4,
    maxResponseTokens: 2000,
    maxObservationTokens: 100,
  };
  const client = createReplayClient(pool);
  let trajectory = startTrajectory({ ...rules, slot: 0, rollout: 0 });
  while (trajectory.status === "live") {
    const random = createRandom(seed, trajectory.turns);
    const tokenIds = charTokenizer.encode(environment.script(name)(problem, trajectory, random));
    trajectory = takeTurn(
      trajectory,
      { tokenIds, logProbs: tokenIds.map(() => 0), finish: "stop" },
      rules,
    );
    const [open] = trajectory.open;
    if (open === undefined) continue;
    const { price } = environment.candidates.find((one) => one.name === open.model)!;
    const reply = await client.ask({
      model: open.model,
      messages: [{ role: "user", content: open.question }],
      max_tokens: 10,
    }, { idempotencyKey: "k", signal: new AbortController().signal });
    const costPico = price.promptPico * reply.usage.promptTokens +
      price.completionPico * reply.usage.completionTokens;
    trajectory = takeReplies(trajectory, new Map([[0, { ...reply, costPico }]]), rules);
  }
  return trajectory;
}
const modelsOf = ({ calls }: Trajectory) => calls.map(({ model }) => model);
const rewardOf = (trajectory: Trajectory) =>
  scoreTrajectory(find(trajectory.problemId), trajectory, REWARD)!.reward;

Deno.test("createRecordedEnvironment() leaves out a question that lost an answer", () => {
  assert.deepEqual(environment.problems("train").map(({ id }) => id), [
    "agree",
    "differ",
    "hopeless",
  ]);
});

Deno.test("createRecordedEnvironment() cuts the recorded dev questions in two", () => {
  const ids = (split: Parameters<Environment["problems"]>[0]) =>
    environment.problems(split).map(({ id }) => id);
  assert.equal(ids("dev").length + ids("test").length, 12);
  assert.ok(ids("dev").length >= 3 && ids("test").length >= 3, `${ids("dev").length}`);
  assert.ok(ids("dev").every((id) => !ids("test").includes(id)));
});

Deno.test("the cascade asks a third only where two disagree", async () => {
  const agreed = await play("cascade", "agree");
  assert.deepEqual(modelsOf(agreed), ["low", "mid"]);
  assert.equal(agreed.answerFrom, 2);
  const differed = await play("cascade", "differ");
  assert.deepEqual(modelsOf(differed), ["low", "mid", "top"]);
  assert.equal(differed.answerFrom, 3);
  // 10 tokens at 1, 10 and 100 dollars a million, at 100 reward a dollar: 0.111
  assert.ok(Math.abs(rewardOf(differed) - (1 - 0.111)) < 1e-12);
});

Deno.test("the oracle reaches the optimum on every question", async () => {
  for (const { id } of environment.problems("train")) {
    const played = await play("oracle", id);
    assert.ok(Math.abs(rewardOf(played) - environment.optimum(find(id), 100)) < 1e-12, id);
  }
  assert.equal(environment.optimum(find("agree"), 100), 1 - 0.001);
  assert.equal(environment.optimum(find("hopeless"), 100), 0);
  assert.equal(environment.optimum(find("differ"), 10_000), 0);
});

Deno.test("fixed players and the cheapest ask who they should", async () => {
  assert.deepEqual(modelsOf(await play("fixed:mid", "agree")), ["mid"]);
  assert.deepEqual(modelsOf(await play("cheapest", "agree")), ["low"]);
  assert.throws(() => environment.script("fixed:none"), RangeError);
  assert.ok(!environment.baselines.includes("demonstrator"));
  for (const name of environment.baselines) environment.script(name);
});

Deno.test("the demonstrator always ends with an answer, in one to three calls of any model", async () => {
  const seen = new Set<string>();
  const lengths = new Set<number>();
  for (let seed = 0; seed < 40; seed++) {
    const played = await play("demonstrator", "differ", seed);
    assert.equal(played.status, "answered");
    assert.deepEqual(played.mistakes, []);
    for (const model of modelsOf(played)) seen.add(model);
    lengths.add(played.calls.length);
  }
  assert.deepEqual([...seen].sort(), ["low", "mid", "top"]);
  assert.deepEqual([...lengths].sort(), [1, 2, 3]);
});

Deno.test("parseRecordedQuestions() says what is wrong with a file", () => {
  const names = ["low", "mid", "top"];
  const good = line("a", "train", ["x", true], ["x", true], ["x", true]);
  const cases: [string, RegExp][] = [
    ["{", /line 1 is no JSON/],
    [`${good}\n{"id":"b"}`, /of line 2 is wrong/],
    [`${good}\n${good}`, /"question a" stands there twice/],
    [good.replace('"mid"', '"other"'), /line 1 has no answer of "mid"/],
  ];
  for (const [text, message] of cases) {
    assert.throws(() => parseRecordedQuestions(text, names), { message });
  }
  // U+2028 ends no line
  assert.equal(parseRecordedQuestions(good.replace('"x"', '"x\u2028y"') + "\n", names).length, 1);
});

Deno.test("createRecordedPool() and parsePoolDescription() refuse strangers", () => {
  const files = { questions: QUESTIONS, tokenizer: "{}" };
  assert.throws(
    () => createRecordedPool(DESCRIPTION, { ...files, prices: { ...PRICES, models: {} } }),
    InvalidConfigError,
  );
  assert.throws(
    () => parsePoolDescription({ ...DESCRIPTION, cascade: { ...DESCRIPTION.cascade, check: "x" } }),
    { message: /asks "x", which is no candidate; name one of low, mid, top/ },
  );
  assert.throws(() => parsePoolDescription({ ...DESCRIPTION, name: 5 }), InvalidConfigError);
});
