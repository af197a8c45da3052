import { LOSSES } from "../../core/algorithms/mod.ts";
import { NotFiniteError } from "../../core/errors.ts";
import { OPTIMIZER_INPUTS } from "../../core/graph/mod.ts";
import {
  type BatchShape,
  buildLearnGraph,
  buildLogProbGraph,
  buildUpdateGraph,
  type LearnRow,
  LOSS_INPUTS,
  type LossSpec,
  type ModelConfig,
  type OptimizerStep,
  parameterShapes,
} from "../../core/policy/mod.ts";
import { packNumbers, packTokens, planMicroBatches } from "./_micro_batches.ts";
import { dataOf, floats, type Runtime, type Values } from "./_runtime.ts";
import { type Weights, zerosLike } from "./_weights.ts";

/** What each loss reads of a row. */
const COLUMNS: Record<LossSpec["type"], readonly string[]> = {
  sft: [],
  ppo_clip: ["advantages", "old_log_probs"],
};

/** Turns weights and rows into new weights; keeps no state but compiled graphs. */
export interface Learner {
  /** One optimizer step. Throws NotFiniteError naming the first tensor that is not finite. */
  learn(
    weights: Weights,
    rows: readonly LearnRow[],
    step: { readonly loss: LossSpec; readonly optimizer: OptimizerStep },
  ): Promise<{ readonly weights: Weights; readonly metrics: Record<string, number> }>;
  /** Natural log-probs of every token under the parameters; 0 at index 0 and where masked. */
  logProbs(parameters: Values, rows: readonly LearnRow[]): Promise<number[][]>;
}

/** A learner of one model's shape. */
export function createLearner(config: ModelConfig, runtime: Runtime): Learner {
  const shapes = parameterShapes(config);
  const noGradients = zerosLike(shapes, "grad/");

  /** Gradients of the whole step and its sums over tokens. */
  const differentiate = async (parameters: Values, rows: readonly LearnRow[], loss: LossSpec) => {
    const tokens = countTokens(rows);
    const numbers = { ...loss, invTokens: tokens === 0 ? 0 : 1 / tokens };
    const common = { ...parameters, loss_numbers: vectorOf(LOSS_INPUTS, numbers) };
    const sums: Record<string, number> = {};
    let gradients = noGradients;
    for (const { places, shape } of planMicroBatches(rows, config.vocab_size)) {
      const batch = places.map((place) => rows[place]!);
      const outputs = await runtime.run(
        `learn/${loss.type}/${shape.rows}x${shape.length}`,
        () => buildLearnGraph(config, shape, LOSSES[loss.type]),
        { ...common, ...gradients, ...packRows(batch, shape, loss) },
      );
      gradients = renamed(outputs, [...shapes.keys()].map((name) => `grad/${name}`));
      for (const name of Object.keys(outputs).filter((name) => name.startsWith("sum/"))) {
        const key = name.slice("sum/".length);
        sums[key] = (sums[key] ?? 0) + dataOf(outputs, name)[0]!;
      }
    }
    return { gradients, sums, tokens };
  };

  return {
    learn: async (weights, rows, { loss, optimizer }) => {
      const { gradients, sums, tokens } = await differentiate(weights.actor, rows, loss);
      wantFinite("loss", sums["loss"]!);
      const step = weights.step + 1;
      const outputs = await runtime.run("update", () => buildUpdateGraph(config), {
        ...weights.actor,
        ...weights.moments,
        ...gradients,
        optimizer_numbers: vectorOf(OPTIMIZER_INPUTS, { ...optimizer, step }),
      });
      const gradNorm = dataOf(outputs, "grad_norm")[0]!;
      if (!Number.isFinite(gradNorm)) wantAllFinite(gradients);
      wantFinite("grad_norm", gradNorm);
      const next = {
        ...weights,
        actor: renamed(outputs, Object.keys(weights.actor)),
        moments: renamed(outputs, Object.keys(weights.moments)),
        step,
      };
      wantAllFinite(next.actor);
      wantAllFinite(next.moments);
      const metrics = metricsOf(loss, sums, tokens);
      return {
        weights: next,
        metrics: loss.type === "sft"
          ? { ...metrics, grad_norm: gradNorm }
          : { ...metrics, "actor/grad_norm": gradNorm, "actor/lr": optimizer.lr },
      };
    },
    logProbs: async (parameters, rows) => {
      const found: number[][] = [];
      for (const { places, shape } of planMicroBatches(rows, config.vocab_size)) {
        const batch = places.map((place) => rows[place]!);
        const outputs = await runtime.run(
          `log_probs/${shape.rows}x${shape.length}`,
          () => buildLogProbGraph(config, shape),
          { ...parameters, ...packTokens(batch.map((row) => row.tokenIds), shape) },
        );
        const logProbs = dataOf(outputs, "log_probs");
        batch.forEach(({ responseMask }, row) => {
          const start = row * (shape.length - 1) - 1;
          found[places[row]!] = responseMask.map((on, t) =>
            on > 0 && t > 0 ? logProbs[start + t]! : 0
          );
        });
      }
      return found;
    },
  };
}

/** Tokens the loss reads; the first of a row has nothing before it. */
function countTokens(rows: readonly LearnRow[]): number {
  return rows.reduce(
    (sum, { responseMask }) => responseMask.reduce((n, on, t) => t > 0 ? n + on : n, sum),
    0,
  );
}

function packRows(rows: readonly LearnRow[], shape: BatchShape, loss: LossSpec): Values {
  const known = [...COLUMNS[loss.type], ...loss.klLossCoef > 0 ? ["ref_log_probs"] : []];
  const column = (name: string) =>
    packNumbers(
      known.includes(name)
        ? rows.map(({ arrays }) => {
          const array = arrays[name];
          if (array !== undefined) return array;
          throw new RangeError(`Cannot learn with ${loss.type}: a row lacks "${name}"`);
        })
        : [],
      shape,
    );
  return {
    ...packTokens(rows.map((row) => row.tokenIds), shape),
    mask: packNumbers(rows.map((row) => row.responseMask), shape),
    advantages: column("advantages"),
    old_log_probs: column("old_log_probs"),
    ref_log_probs: column("ref_log_probs"),
  };
}

/** Means over the step's tokens, under the names peers log. */
function metricsOf(
  loss: LossSpec,
  { loss: total, ...sums }: Record<string, number>,
  tokens: number,
): Record<string, number> {
  if (loss.type === "sft") return { loss: total! };
  const shown = Object.entries(sums).filter(([name]) => name !== "kl_loss" || loss.klLossCoef > 0);
  return Object.fromEntries(
    shown.map(([name, sum]) => [`actor/${name}`, tokens === 0 ? 0 : sum / tokens]),
  );
}

function vectorOf<K extends string>(keys: readonly K[], numbers: Readonly<Record<K, number>>) {
  return floats(Float32Array.from(keys, (key) => numbers[key]), [keys.length]);
}

/** Outputs `{name}.out` under the names of the inputs they follow. */
function renamed(outputs: Values, names: readonly string[]): Values {
  return Object.fromEntries(names.map((name) => [name, outputs[`${name}.out`]!]));
}

function wantFinite(name: string, x: number): void {
  if (Number.isFinite(x)) return;
  throw new NotFiniteError(
    `Cannot take an optimizer step: "${name}" is ${x}; the state before it is kept, look at the batch or lower the learning rate`,
  );
}

function wantAllFinite(values: Values): void {
  for (const name of Object.keys(values)) {
    let sum = 0;
    for (const x of dataOf(values, name)) sum += x - x; // NaN as soon as one is not finite
    if (sum !== 0) wantFinite(name, NaN);
  }
}
