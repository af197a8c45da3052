import type { Tensor } from "../storage/mod.ts";

/** What is sampled: each row is a trajectory's tokens so far. */
export interface GenerateRequest {
  readonly prompts: readonly (readonly number[])[];
  /** Counters of each row; the token's index is appended, so a token's draw depends on nothing else. */
  readonly seeds: readonly (readonly number[])[];
  readonly maxNewTokens: number;
  /** 0 is greedy. */
  readonly temperature: number;
  /** A row ends once the text of its new tokens ends with one of these, or with an end-of-text token. */
  readonly stopStrings: readonly string[];
}

/** The new tokens of one row; `logProbs` are natural logs under temperature 1. */
export interface GeneratedTurn {
  readonly tokenIds: readonly number[];
  readonly logProbs: readonly number[];
  readonly finish: "stop" | "length";
}

/** A row to learn from; arrays are parallel to `tokenIds`, index t speaks of token t given those before. */
export interface LearnRow {
  readonly tokenIds: readonly number[];
  readonly responseMask: readonly number[];
  /** `advantages`, `old_log_probs`, `ref_log_probs`; absent in supervised learning. */
  readonly arrays: Readonly<Record<string, readonly number[]>>;
}

/** AdamW and clipping of one optimizer step. */
export interface OptimizerStep {
  readonly lr: number;
  readonly beta1: number;
  readonly beta2: number;
  readonly eps: number;
  readonly weightDecay: number;
  /** Global gradient norm is clipped to this. */
  readonly gradClip: number;
}

/** Which loss a step minimises; a name of `core/algorithms`' registry with its numbers. */
export interface LossSpec {
  readonly type: "sft" | "ppo_clip";
  readonly clipRatioLow: number;
  readonly clipRatioHigh: number;
  readonly entropyCoeff: number;
  readonly klLossCoef: number;
}

/**
 * The learner's whole state as named fp32 tensors: `actor/…`, `exp_avg/…`, `exp_avg_sq/…`,
 * `optimizer/step`, `reference/…` (when KL is used).
 */
export type LearnerState = ReadonlyMap<string, Tensor>;

/** SHA-256 over the sorted fp32 tensors (name, shape, data). */
export interface StateDigest {
  readonly weights: string;
  readonly optimizer: string;
}

/** A policy that samples and learns on one device. Calls are served one after another. */
export interface PolicyEngine {
  /** Seeded initial weights, moments at zero. */
  initialise(seed: number): Promise<StateDigest>;
  /** Replaces the whole state; absent moments are zero. Throws InvalidConfigError on another shape. */
  load(state: LearnerState): Promise<StateDigest>;
  /** What `load` takes to come back here. */
  state(): Promise<LearnerState>;
  /** One turn of every prompt, in their order; no row depends on the others. */
  generate(request: GenerateRequest): Promise<readonly GeneratedTurn[]>;
  /** Log-probs of every token under the actor or the reference; index 0 and masked tokens are 0. */
  logProbs(
    rows: readonly LearnRow[],
    which: "actor" | "reference",
  ): Promise<readonly (readonly number[])[]>;
  /** Remembers the present weights as the reference policy. */
  setReference(): Promise<void>;
  /**
   * One optimizer step over all rows (micro-batched inside, denominators of the whole step); its metrics.
   * Throws NotFiniteError and keeps the old state.
   */
  learn(
    rows: readonly LearnRow[],
    loss: LossSpec,
    optimizer: OptimizerStep,
  ): Promise<Readonly<Record<string, number>>>;
  /**
   * `learn` for a list of batches in order, in one trip: the supervised warm start. `onStep` is told how
   * many are done. When one throws, those before it have been applied.
   */
  learnMany(
    batches: readonly { readonly rows: readonly LearnRow[]; readonly optimizer: OptimizerStep }[],
    loss: LossSpec,
    onStep?: (done: number) => void,
  ): Promise<readonly Readonly<Record<string, number>>[]>;
  /** Weights and optimizer apart; the reference is in neither. */
  digest(): Promise<StateDigest>;
  /** Frees the device; calls not answered yet reject. */
  close(): Promise<void>;
}
