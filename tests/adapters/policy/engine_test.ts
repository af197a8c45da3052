import assert from "node:assert/strict";
import { createPolicyEngine } from "../../../adapters/policy/engine.ts";
import { InvalidConfigError, NotFiniteError } from "../../../core/errors.ts";
import type { LearnRow, LossSpec } from "../../../core/policy/engine.ts";
import {
  demonstration,
  idsOf,
  OPTIMIZER,
  SFT,
  TINY,
  tinyEngine,
  TOKENIZER_JSON,
} from "../../_support/tiny_policy.ts";

const PPO: LossSpec = { ...SFT, type: "ppo_clip", entropyCoeff: 0.01 };
/** A task of one look-up: "c" is answered by "xc<>". */
const LESSONS = [..."abcdefgh"].map((letter) => demonstration(letter, `x${letter}<>`));
const LESSON = { rows: LESSONS, optimizer: OPTIMIZER };

/** A rollout with its advantage, as the engine sampled it. */
function sampled(
  prompt: readonly number[],
  turn: { readonly tokenIds: readonly number[]; readonly logProbs: readonly number[] },
  advantage: number,
): LearnRow {
  const onTurn = (fill: (t: number) => number) => [
    ...prompt.map(() => 0),
    ...turn.tokenIds.map((_, t) => fill(t)),
  ];
  return {
    tokenIds: [...prompt, ...turn.tokenIds],
    responseMask: onTurn(() => 1),
    arrays: {
      advantages: onTurn(() => advantage),
      old_log_probs: onTurn((t) => turn.logProbs[t]!),
    },
  };
}

Deno.test("learnMany() lowers the loss until generate() does the task, and stops on strings and the end", async () => {
  await using engine = await tinyEngine();
  await engine.initialise(1);
  const done: number[] = [];
  const batches = Array.from({ length: 60 }, () => LESSON);
  const reports = await engine.learnMany(batches, SFT, (n) => done.push(n));
  assert.deepEqual(done, batches.map((_, i) => i + 1));
  const first = reports[0]!["loss"]!;
  assert.ok(first > 2 && reports.at(-1)!["loss"]! < 0.1, JSON.stringify(reports.at(-1)));
  assert.ok(reports.every((report) => report["grad_norm"]! > 0));

  const ask = (stopStrings: readonly string[], maxNewTokens = 8) =>
    engine.generate({
      prompts: [idsOf("c"), idsOf("f")],
      seeds: [[1], [2]],
      maxNewTokens,
      temperature: 0,
      stopStrings,
    });
  const texts = (turns: Awaited<ReturnType<typeof ask>>) => turns.map((turn) => turn.tokenIds);
  assert.deepEqual(texts(await ask([])), [[...idsOf("xc<>"), 0], [...idsOf("xf<>"), 0]]);
  const tagged = await ask(["q", "c<>"]); // a stop string made of three tokens, for one row
  assert.deepEqual(texts(tagged), [idsOf("xc<>"), [...idsOf("xf<>"), 0]]);
  assert.deepEqual(tagged.map((turn) => turn.finish), ["stop", "stop"]);
  const short = await ask([], 2);
  assert.deepEqual(texts(short), [idsOf("xc"), idsOf("xf")]);
  assert.deepEqual(short.map((turn) => turn.finish), ["length", "length"]);
});

Deno.test("generate() gives a row the same bits alone and among others, and other seeds other tokens", async () => {
  await using engine = await tinyEngine();
  await engine.initialise(2);
  const prompts = Array.from({ length: 40 }, (_, i) => {
    const start = idsOf("abcdefghijklmnopqrstuvwxyz").slice(i % 5, i % 5 + 1 + i % 19);
    return i % 4 === 3 ? idsOf("same") : start;
  });
  const request = { maxNewTokens: 9, temperature: 0.8, stopStrings: ["<", "ab"] };
  const all = await engine.generate({ ...request, prompts, seeds: prompts.map((_, i) => [7, i]) });
  for (const i of [0, 3, 11, 22, 39]) {
    const prompt = prompts[i]!;
    const [alone] = await engine.generate({ ...request, prompts: [prompt], seeds: [[7, i]] });
    assert.deepEqual(alone, all[i], `row ${i}`);
  }
  assert.ok(
    new Set(all.filter((_, i) => i % 4 === 3).map((turn) => turn.tokenIds.join())).size > 5,
  );
  assert.ok(
    all.some((turn) => turn.finish === "length") && all.some((turn) => turn.finish === "stop"),
  );
  assert.deepEqual(await engine.generate({ ...request, prompts: [], seeds: [] }), []);
});

Deno.test("logProbs() and learn() agree with generate(), across micro-batches", async () => {
  await using engine = await tinyEngine();
  await engine.initialise(3);
  const prompts = Array.from({ length: 300 }, (_, i) => idsOf("abcdefghijklmno").slice(i % 7));
  const turns = await engine.generate({
    prompts,
    seeds: prompts.map((_, i) => [i]),
    maxNewTokens: 4,
    temperature: 1,
    stopStrings: [],
  });
  const rows = prompts.map((prompt, i) => sampled(prompt, turns[i]!, i % 2 === 0 ? 1 : -2));
  const logProbs = await engine.logProbs(rows, "actor");
  const differences = rows.flatMap(({ responseMask, arrays }, i) =>
    responseMask.map((on, t) =>
      on ? Math.abs(arrays["old_log_probs"]![t]! - logProbs[i]![t]!) : Math.abs(logProbs[i]![t]!)
    )
  );
  assert.ok(Math.max(...differences) < 1e-5);

  const tokens = turns.flatMap((turn, i) => turn.tokenIds.map(() => i % 2 === 0 ? 1 : -2));
  const metrics = await engine.learn(rows, PPO, { ...OPTIMIZER, lr: 0 });
  // at ratio 1 the loss is the mean of −advantage
  const expected = -tokens.reduce((sum, x) => sum + x, 0) / tokens.length;
  assert.ok(Math.abs(metrics["actor/pg_loss"]! - expected) < 1e-4);
  assert.ok(Math.abs(metrics["actor/ppo_kl"]!) < 1e-6);
  assert.equal(metrics["actor/pg_clipfrac"], 0);
  assert.ok(metrics["actor/entropy"]! > 2 && metrics["actor/grad_norm"]! > 0);
  assert.deepEqual([metrics["actor/lr"], metrics["actor/kl_loss"]], [0, undefined]);

  const total = logProbs.flat().reduce((sum, x) => sum + x, 0);
  const { loss } = await engine.learn(rows, SFT, { ...OPTIMIZER, lr: 0 });
  assert.ok(Math.abs(loss! + total / tokens.length) < 1e-5);
});

Deno.test("a state loaded elsewhere goes on bit by bit as if never stopped", async () => {
  await using engine = await tinyEngine();
  const start = await engine.initialise(4);
  await engine.learnMany([LESSON, LESSON], SFT);
  await engine.setReference();
  const state = await engine.state();
  const before = await engine.digest();
  await engine.learnMany([LESSON, LESSON], SFT);
  const after = await engine.digest();
  assert.equal(new Set([start.weights, before.weights, after.weights]).size, 3);
  assert.equal(new Set([start.optimizer, before.optimizer, after.optimizer]).size, 3);

  await using other = await tinyEngine();
  assert.deepEqual(await other.load(state), before);
  assert.deepEqual(
    await other.logProbs(LESSONS, "reference"),
    await other.logProbs(LESSONS, "actor"),
  );
  await other.learnMany([LESSON, LESSON], SFT);
  assert.deepEqual(await other.digest(), after);

  const weightsOnly = new Map([...state].filter(([name]) => name.startsWith("actor/")));
  const fresh = await other.load(weightsOnly);
  assert.deepEqual([fresh.weights, fresh.optimizer], [before.weights, start.optimizer]);
  await assert.rejects(other.logProbs(LESSONS, "reference"), /no reference policy/);
});

Deno.test("learn() pulls towards the reference when asked", async () => {
  await using engine = await tinyEngine();
  await engine.initialise(5);
  await engine.setReference();
  await engine.learnMany([LESSON, LESSON], SFT);
  const known = await engine.logProbs(LESSONS, "reference");
  const now = await engine.logProbs(LESSONS, "actor");
  const rows = LESSONS.map((row, i) => ({
    ...row,
    arrays: {
      advantages: row.tokenIds.map(() => 0),
      old_log_probs: now[i]!,
      ref_log_probs: known[i]!,
    },
  }));
  const spec = { ...PPO, entropyCoeff: 0, klLossCoef: 1 };
  const first = await engine.learn(rows, spec, OPTIMIZER);
  const second = await engine.learn(rows, spec, OPTIMIZER);
  assert.ok(first["actor/kl_loss"]! > second["actor/kl_loss"]!, JSON.stringify([first, second]));
  const lacking = rows.map((row) => ({ ...row, arrays: { advantages: row.arrays.advantages } }));
  await assert.rejects(engine.learn(lacking, spec, OPTIMIZER), /lacks "old_log_probs"/);
});

Deno.test("learn() keeps the state when a number is not finite, and names it", async () => {
  await using engine = await tinyEngine();
  await engine.initialise(6);
  const digest = await engine.digest();
  const turn = { tokenIds: idsOf("b"), logProbs: [-1] };
  const named = (pattern: RegExp) => (error: unknown) => {
    assert.ok(error instanceof NotFiniteError, String(error));
    assert.match(error.message, pattern);
    return true;
  };
  const broken = [sampled(idsOf("a"), turn, NaN)];
  await assert.rejects(engine.learn(broken, PPO, OPTIMIZER), named(/"loss" is NaN/));
  const huge = { ...OPTIMIZER, lr: Infinity };
  await assert.rejects(engine.learn(LESSONS, SFT, huge), named(/"model\.\S+" is NaN/));
  await assert.rejects(
    engine.learnMany([LESSON, { ...LESSON, optimizer: huge }], SFT),
    NotFiniteError,
  );
  assert.notDeepEqual(await engine.digest(), digest); // the batch before it has been applied
  await engine.initialise(6);
  assert.deepEqual(await engine.digest(), digest);

  const masked = sampled(idsOf("a"), turn, NaN);
  const hidden = { ...masked, responseMask: masked.responseMask.map(() => 0) };
  const metrics = await engine.learn([hidden], PPO, { ...OPTIMIZER, weightDecay: 0 });
  assert.deepEqual([metrics["actor/pg_loss"], metrics["actor/grad_norm"]], [0, 0]);
  assert.equal((await engine.digest()).weights, digest.weights);

  const poisoned = new Map(await engine.state());
  const norm = poisoned.get("actor/model.norm.weight")!;
  poisoned.set("actor/model.norm.weight", { ...norm, data: norm.data.map(() => NaN) });
  await engine.load(poisoned);
  const request = { prompts: [idsOf("a")], seeds: [[1]], maxNewTokens: 2, stopStrings: [] };
  await assert.rejects(engine.generate({ ...request, temperature: 1 }), NotFiniteError);
  await assert.rejects(engine.generate({ ...request, temperature: 0 }), NotFiniteError);
});

Deno.test("an engine says what it cannot do, and goes on", async () => {
  const options = {
    config: TINY,
    tokenizerJson: TOKENIZER_JSON,
    endOfText: "<|end|>",
    numThreads: 1,
  };
  const small = { ...TINY, vocab_size: 8 };
  await assert.rejects(createPolicyEngine({ ...options, config: small }), InvalidConfigError);

  const engine = await createPolicyEngine(options);
  await assert.rejects(engine.state(), /has no weights; initialise or load it first/);
  await engine.initialise(7);
  const request = {
    prompts: [idsOf("a")],
    seeds: [[1]],
    maxNewTokens: 2,
    temperature: 1,
    stopStrings: [],
  };
  await assert.rejects(engine.generate({ ...request, prompts: [[]] }), /prompt 0 has no tokens/);
  await assert.rejects(engine.generate({ ...request, prompts: [[30]] }), /id 30 is not in the/);
  await assert.rejects(engine.generate({ ...request, maxNewTokens: 0 }), RangeError);
  await assert.rejects(engine.learn([], SFT, OPTIMIZER), /there are no rows/);
  const state = new Map(await engine.state());
  state.delete("actor/model.norm.weight");
  await assert.rejects(engine.load(state), (error) => {
    assert.ok(error instanceof InvalidConfigError);
    assert.match(error.message, /"actor\/model\.norm\.weight" is missing/);
    return true;
  });
  assert.equal((await engine.generate(request)).length, 1);
  const unfinished = engine.learnMany(Array.from({ length: 500 }, () => LESSON), SFT);
  await Promise.all([
    assert.rejects(unfinished, /its engine is closed/),
    engine.close(),
  ]);
  await assert.rejects(engine.digest(), /its engine is closed/);
});
