import type { RunConfig } from "../configs/run.ts";
import type { Problem } from "../core/data/problems.ts";
import type { CheckpointStore, ModelFiles } from "../core/policy/mod.ts";
import type { PolicyEngine } from "../core/policy/engine.ts";
import type { Tokenizer } from "../core/policy/tokenizer.ts";
import type { Environment } from "../core/rollouts/environment.ts";
import type { Protocol } from "../core/rollouts/protocol.ts";
import type { CandidateClient } from "../core/routing/client.ts";
import type { ArtifactStore, Journal } from "../core/storage/artifacts.ts";
import type { BudgetLimits, CallLedger } from "../core/storage/ledger.ts";
import type { RunSummary } from "../core/plan/run.ts";

/** Everything that follows from a run's stored config. */
export interface RunKit {
  readonly run: string;
  readonly preset: string;
  /** It goes on, knowingly, on hardware whose bytes may differ. */
  readonly moved: boolean;
  readonly config: RunConfig;
  readonly environment: Environment;
  readonly problems: ReadonlyMap<string, Problem>;
  readonly tokenizer: Tokenizer;
  readonly protocol: Protocol;
  readonly client: CandidateClient;
  readonly limits: BudgetLimits;
  /** Digest of what evaluations of different runs must share to be the same evaluation. */
  readonly evaluationDigest: string;
  /** What makes the policy's weights a Hugging Face folder. */
  readonly modelFiles: ModelFiles;
  /** Digest of the model's shape, vocabulary included. */
  readonly modelDigest: string;
}

/** A change an operator made, with the first step it holds for. */
export interface RunUpdate {
  readonly id: string;
  readonly key: "reward.cost_coe";
  readonly value: number;
  readonly fromStep: number;
}

/** The run folder: `runs/{run}/…`. */
export interface RunStore {
  /**
   * Stores the config of a new run. A run that has begun takes up the keys that may change on the way and
   * refuses others; without overrides it goes on as it is. Throws InvalidConfigError.
   */
  begin(run: string, preset: string, overrides: readonly string[]): Promise<void>;
  /** The kit of a run that has begun; throws InvalidConfigError when it has not. */
  kit(run: string): Promise<RunKit>;
  updates(run: string): Promise<readonly RunUpdate[]>;
  addUpdate(run: string, update: RunUpdate): Promise<void>;
  /** Appends one line to `metrics.jsonl`, once per (kind, step). */
  appendMetrics(run: string, line: Readonly<Record<string, number | string>>): Promise<void>;
  /** Null until the run has been concluded. */
  readSummary(run: string): Promise<RunSummary | null>;
  writeSummary(run: string, summary: RunSummary): Promise<void>;
}

/** The one engine of this process, made for a model's shape. */
export interface EngineSource {
  engine(kit: RunKit): Promise<PolicyEngine>;
}

/** What activities are given. */
export interface Ports {
  readonly runs: RunStore;
  readonly artifacts: ArtifactStore;
  readonly journal: Journal;
  readonly ledger: CallLedger;
  readonly checkpoints: CheckpointStore;
  readonly engines: EngineSource;
  /** Whether the server knows our search attributes. */
  readonly searchAttributes: boolean;
}
