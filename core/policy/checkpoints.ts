import type { LearnerState } from "./engine.ts";

/** `warm_start` counts optimizer steps of the warm start, `checkpoints` steps of the run. */
export type CheckpointKind = "warm_start" | "checkpoints";

/** Files that make the weights a Hugging Face folder. */
export interface ModelFiles {
  readonly "config.json": string;
  readonly "tokenizer.json": string;
}

/** Checkpoints of a run, complete or not there at all, verified when read. */
export interface CheckpointStore {
  /** Durable when it returns; replaces one of the same step. */
  save(
    run: string,
    kind: CheckpointKind,
    step: number,
    state: LearnerState,
    files: ModelFiles,
  ): Promise<void>;
  /** The newest complete one at or before a step; damaged ones are passed over. */
  newest(
    run: string,
    kind: CheckpointKind,
    atMost: number,
  ): Promise<{ step: number; state: LearnerState } | null>;
  /** Removes all but the newest `keep` and the steps to spare. */
  prune(run: string, kind: CheckpointKind, keep: number, spare: readonly number[]): Promise<void>;
}
