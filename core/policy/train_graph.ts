import {
  adamW,
  globalNorm,
  gradients,
  GraphBuilder,
  OPTIMIZER_INPUTS,
  type Value,
} from "../graph/mod.ts";
import {
  buildHidden,
  buildLogits,
  causalAttend,
  declareParameters,
  type ModelConfig,
  type Parameters,
  ropeTables,
} from "./model.ts";

/** A static batch: right-padded rows of one length. */
export interface BatchShape {
  readonly rows: number;
  readonly length: number;
}

/** What a loss sees: each value is [rows, length − 1] and speaks of the tokens after the first. */
export interface LossInputs {
  readonly logProbs: Value;
  readonly entropy: Value;
  /** 1 where the loss reads, else 0. */
  readonly mask: Value;
  readonly advantages: Value;
  readonly oldLogProbs: Value;
  readonly refLogProbs: Value;
  /** Scalars: `invTokens` (1 / tokens of the whole optimizer step), clip ratios, coefficients. */
  readonly hyper: Readonly<Record<LossNumber, Value>>;
}

/** Positions of the numbers in a loss's input vector. */
export const LOSS_INPUTS = [
  "invTokens",
  "clipRatioLow",
  "clipRatioHigh",
  "entropyCoeff",
  "klLossCoef",
] as const;
/** A number a loss takes. */
export type LossNumber = (typeof LOSS_INPUTS)[number];

/** Adds a loss to the graph: its scalar, and sums over tokens to report by metric name. */
export type LossBuilder = (
  g: GraphBuilder,
  inputs: LossInputs,
) => { readonly loss: Value; readonly sums: Readonly<Record<string, Value>> };

/**
 * Loss and gradients of one micro-batch. Inputs: parameters by name, accumulators `grad/{name}`,
 * `token_ids` [rows, length], `mask`, `advantages`, `old_log_probs`, `ref_log_probs` [rows, length − 1] and
 * `loss_numbers`. Outputs: `grad/{name}.out`, and `sum/{metric}` (`sum/loss` always).
 */
export function buildLearnGraph(
  config: ModelConfig,
  shape: BatchShape,
  buildLoss: LossBuilder,
): Uint8Array {
  const g = new GraphBuilder("learn");
  const parameters = declareParameters(g, config);
  const { logProbs, entropy } = tokenStatistics(g, config, parameters, shape);
  const perToken = (name: string) => g.input(name, [shape.rows, shape.length - 1]);
  const numbers = scalarsOf(g, "loss_numbers", LOSS_INPUTS);
  const { loss, sums } = buildLoss(g, {
    logProbs,
    entropy,
    mask: perToken("mask"),
    advantages: perToken("advantages"),
    oldLogProbs: perToken("old_log_probs"),
    refLogProbs: perToken("ref_log_probs"),
    hyper: numbers,
  });
  const names = [...parameters.keys()];
  const grads = gradients(g, loss, [...parameters.values()]);
  names.forEach((name, i) => {
    const accumulator = g.input(`grad/${name}`, parameters.get(name)!.shape);
    g.output(g.add(accumulator, grads[i]!), `grad/${name}.out`);
  });
  for (const [name, value] of Object.entries({ ...sums, loss })) g.output(value, `sum/${name}`);
  return g.build();
}

/**
 * Clipping and AdamW. Inputs: parameters by name, `grad/…`, `exp_avg/…`, `exp_avg_sq/…` and
 * `optimizer_numbers` (OPTIMIZER_INPUTS). Outputs: the same names with `.out`, and `grad_norm` before
 * clipping. Matrices decay, norms do not.
 */
export function buildUpdateGraph(config: ModelConfig): Uint8Array {
  const g = new GraphBuilder("update");
  const parameters = declareParameters(g, config);
  const numbers = scalarsOf(g, "optimizer_numbers", OPTIMIZER_INPUTS);
  const one = g.scalar(1);
  // βᵗ by logarithms: t is an input
  const power = (beta: Value) => g.exp(g.mul(g.log(beta), numbers.step));
  const hyper = {
    ...numbers,
    correction1: g.sub(one, power(numbers.beta1)),
    correction2: g.sub(one, power(numbers.beta2)),
  };
  const grads = new Map(
    [...parameters].map(([name, { shape }]) => [name, g.input(`grad/${name}`, shape)]),
  );
  const norm = globalNorm(g, [...grads.values()]);
  const scale = g.min(one, g.div(numbers.gradClip, g.add(norm, g.scalar(1e-6))));
  for (const [name, parameter] of parameters) {
    const next = adamW(g, {
      parameter,
      gradient: grads.get(name)!,
      m: g.input(`exp_avg/${name}`, parameter.shape),
      v: g.input(`exp_avg_sq/${name}`, parameter.shape),
      hyper,
      scale,
      decayed: parameter.shape.length > 1,
    });
    g.output(next.parameter, `${name}.out`);
    g.output(next.m, `exp_avg/${name}.out`);
    g.output(next.v, `exp_avg_sq/${name}.out`);
  }
  g.output(norm, "grad_norm");
  return g.build();
}

/** `log_probs` [rows, length − 1] of the tokens after the first, from parameters and `token_ids`. */
export function buildLogProbGraph(config: ModelConfig, shape: BatchShape): Uint8Array {
  const g = new GraphBuilder("log_probs");
  const { logProbs } = tokenStatistics(g, config, declareParameters(g, config), shape);
  g.output(logProbs, "log_probs");
  return g.build();
}

function scalarsOf<K extends string>(
  g: GraphBuilder,
  name: string,
  keys: readonly K[],
): Record<K, Value> {
  const vector = g.input(name, [keys.length]);
  const entries = keys.map((key, i) => [key, g.reshape(g.slice(vector, 0, i, i + 1), [])]);
  return Object.fromEntries(entries) as Record<K, Value>;
}

function tokenStatistics(
  g: GraphBuilder,
  config: ModelConfig,
  parameters: Parameters,
  { rows, length }: BatchShape,
) {
  const tokenIds = g.input("token_ids", [rows, length], "int64");
  const tables = ropeTables(config, length);
  const table = (data: Float32Array) => g.constant(data, [length, config.head_dim]);
  const hidden = buildHidden(g, config, parameters, {
    tokenIds,
    cos: table(tables.cos),
    sin: table(tables.sin),
    attend: causalAttend(g, config, length),
  });
  const d = config.hidden_size;
  const before = g.slice(g.reshape(hidden, [rows, length, d]), 1, 0, length - 1);
  const count = rows * (length - 1);
  const logits = buildLogits(g, config, parameters, g.reshape(before, [count, d]));
  const all = g.logSoftmax(logits, 1);
  const targets = g.reshape(g.slice(tokenIds, 1, 1, length), [count, 1]);
  const shape = [rows, length - 1];
  return {
    logProbs: g.reshape(g.gatherElements(all, targets, 1), shape),
    entropy: g.reshape(g.neg(g.reduceSum(g.mul(g.exp(all), all), [1])), shape),
  };
}
