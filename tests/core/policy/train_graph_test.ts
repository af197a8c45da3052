import assert from "node:assert/strict";
import { LOSSES } from "../../../core/algorithms/mod.ts";
import { OPTIMIZER_INPUTS } from "../../../core/graph/mod.ts";
import {
  buildLearnGraph,
  buildLogProbGraph,
  buildUpdateGraph,
  initialiseParameters,
  type ModelConfig,
  parameterShapes,
} from "../../../core/policy/mod.ts";
import { type Fed, openGraph, runGraph } from "../../_support/onnx.ts";

const CONFIG: ModelConfig = {
  vocab_size: 11,
  hidden_size: 16,
  intermediate_size: 24,
  num_hidden_layers: 2,
  num_attention_heads: 4,
  num_key_value_heads: 2,
  head_dim: 4,
  rms_norm_eps: 1e-6,
  rope_theta: 10000,
  tie_word_embeddings: false,
  max_position_embeddings: 16,
  initializer_range: 0.2,
};
const SHAPES = parameterShapes(CONFIG);
const LENGTH = 5;
const ROWS = [[1, 2, 3, 4, 5], [1, 7, 7, 2, 0]];
const MASKS = [[1, 1, 1, 1], [0, 1, 1, 0]];

type State = Record<string, Fed>;
const zeros = (prefix: string): State =>
  Object.fromEntries([...SHAPES].map(([name, shape]) => {
    const size = shape.reduce((a, b) => a * b, 1);
    return [prefix + name, { data: new Float32Array(size), shape }];
  }));
const followed = (out: Record<string, Float32Array>, state: State): State =>
  Object.fromEntries(
    Object.entries(state).map(([name, { shape }]) => [name, { data: out[`${name}.out`]!, shape }]),
  );

/** Inputs of a supervised micro-batch; the mean is over `tokens`. */
function batchOf(rows: readonly number[][], masks: readonly number[][], tokens: number): State {
  const shape = [rows.length, LENGTH - 1];
  const nothing = { data: masks.flat().map(() => 0), shape };
  return {
    token_ids: { data: rows.flat(), shape: [rows.length, LENGTH], dtype: "int64" },
    mask: { data: masks.flat(), shape },
    advantages: nothing,
    old_log_probs: nothing,
    ref_log_probs: nothing,
    loss_numbers: { data: [tokens === 0 ? 0 : 1 / tokens, 0.2, 0.2, 0, 0], shape: [5] },
  };
}
const learnGraph = (rows: number) => buildLearnGraph(CONFIG, { rows, length: LENGTH }, LOSSES.sft);
const optimizer = (numbers: Record<(typeof OPTIMIZER_INPUTS)[number], number>): State => ({
  optimizer_numbers: {
    data: OPTIMIZER_INPUTS.map((key) => numbers[key]),
    shape: [OPTIMIZER_INPUTS.length],
  },
});
const ADAM = { lr: 0.02, beta1: 0.9, beta2: 0.99, eps: 1e-8, weightDecay: 0, gradClip: 1, step: 1 };

Deno.test("buildLearnGraph() and buildUpdateGraph() make a small model learn its batch", async () => {
  await using learn = await openGraph(learnGraph(2));
  await using update = await openGraph(buildUpdateGraph(CONFIG));
  let parameters: State = Object.fromEntries(initialiseParameters(CONFIG, 1));
  let moments = { ...zeros("exp_avg/"), ...zeros("exp_avg_sq/") };
  const losses: number[] = [];
  for (let step = 1; step <= 20; step++) {
    const fresh = zeros("grad/");
    const learned = await learn.run({ ...parameters, ...fresh, ...batchOf(ROWS, MASKS, 6) });
    losses.push(learned["sum/loss"]![0]!);
    const out = await update.run({
      ...parameters,
      ...moments,
      ...followed(learned, fresh),
      ...optimizer({ ...ADAM, step }),
    });
    parameters = followed(out, parameters);
    moments = followed(out, moments);
  }
  assert.ok(losses[0]! > 1.5, `the first loss is ${losses[0]}`);
  assert.ok(losses.at(-1)! < 0.3 * losses[0]!, `losses are ${losses}`);
});

Deno.test("buildLearnGraph() adds up micro-batches to the gradient of the whole step", async () => {
  const parameters: State = Object.fromEntries(initialiseParameters(CONFIG, 2));
  const whole = await runGraph(learnGraph(2), {
    ...parameters,
    ...zeros("grad/"),
    ...batchOf(ROWS, MASKS, 6),
  });
  let parts = zeros("grad/");
  let loss = 0;
  for (const [i, row] of ROWS.entries()) {
    const batch = batchOf([row], [MASKS[i]!], 6);
    const out = await runGraph(learnGraph(1), { ...parameters, ...parts, ...batch });
    parts = followed(out, parts);
    loss += out["sum/loss"]![0]!;
  }
  assert.ok(Math.abs(loss - whole["sum/loss"]![0]!) < 1e-6);
  for (const [name, { data }] of Object.entries(parts)) {
    whole[`${name}.out`]!.forEach((x, i) => {
      assert.ok(Math.abs(x - data[i]!) < 1e-5, `${name}[${i}]: ${x} and ${data[i]}`);
    });
  }
});

Deno.test("buildLearnGraph() of a fully masked batch has loss 0 and no gradient", async () => {
  const nothing = MASKS.map((mask) => mask.map(() => 0));
  const out = await runGraph(learnGraph(2), {
    ...Object.fromEntries(initialiseParameters(CONFIG, 1)),
    ...zeros("grad/"),
    ...batchOf(ROWS, nothing, 0),
  });
  for (const [name, data] of Object.entries(out)) {
    assert.ok(data.every((x) => x === 0), `${name} is not 0`);
  }
});

Deno.test("buildUpdateGraph() clips to the bound and decays matrices, not norms", async () => {
  const parameters: State = Object.fromEntries(initialiseParameters(CONFIG, 1));
  const moments = { ...zeros("exp_avg/"), ...zeros("exp_avg_sq/") };
  const grads = zeros("grad/");
  grads["grad/model.norm.weight"] = { data: [3, 4, ...Array(14).fill(0)], shape: [16] };
  const out = await runGraph(buildUpdateGraph(CONFIG), {
    ...parameters,
    ...moments,
    ...grads,
    ...optimizer({ ...ADAM, lr: 0.1, weightDecay: 0.5 }),
  });
  assert.equal(out["grad_norm"]![0], 5);
  // the first moment is (1 − 0.9) · gradient / 5
  const m = out["exp_avg/model.norm.weight.out"]!;
  assert.ok(Math.abs(m[0]! - 0.06) < 1e-6 && Math.abs(m[1]! - 0.08) < 1e-6, `${m}`);
  const matrix = "model.layers.0.mlp.up_proj.weight";
  const before = parameters[matrix]!.data;
  out[`${matrix}.out`]!.forEach((x, i) => assert.ok(Math.abs(x - 0.95 * before[i]!) < 1e-6));
  const untouched = out["model.layers.0.input_layernorm.weight.out"]!;
  assert.ok(untouched.every((x) => x === 1));
});

Deno.test("buildLogProbGraph() sees no token after the one it speaks of", async () => {
  const model = buildLogProbGraph(CONFIG, { rows: 2, length: LENGTH });
  const parameters: State = Object.fromEntries(initialiseParameters(CONFIG, 3));
  const rows = [[1, 2, 3, 4, 5], [1, 2, 3, 9, 9]];
  const { log_probs: logProbs } = await runGraph(model, {
    ...parameters,
    token_ids: { data: rows.flat(), shape: [2, LENGTH], dtype: "int64" },
  });
  const [first, second] = [logProbs!.slice(0, 4), logProbs!.slice(4)];
  assert.deepEqual(first.slice(0, 2), second.slice(0, 2));
  assert.notEqual(first[2], second[2]);
  assert.ok(logProbs!.every((x) => x < 0));
});

Deno.test("initialiseParameters() is a function of the seed; norms are 1", () => {
  const [a, b, c] = [1, 1, 2].map((seed) => initialiseParameters(CONFIG, seed));
  assert.deepEqual(a, b);
  assert.notDeepEqual(a, c);
  assert.deepEqual(a!.get("model.norm.weight")!.data, new Float32Array(16).fill(1));
  const { data } = a!.get("lm_head.weight")!;
  const deviation = Math.sqrt(data.reduce((sum, x) => sum + x * x, 0) / data.length);
  assert.ok(Math.abs(deviation - 0.2) < 0.05, `deviation is ${deviation}`);
});
