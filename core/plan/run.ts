/** What the workflows say to each other and to the activities: keys, counts and small numbers only. */

import type { ArtifactRef } from "../storage/mod.ts";
import type { Phase } from "./ids.ts";

/** Who writes the turns: the policy as it is after a step of a run, or a named script. */
export type Player =
  | { readonly kind: "policy"; readonly run: string; readonly step: number }
  | { readonly kind: "script"; readonly name: string };

/** The part of a run's config that orders its work. */
export interface RunPlan {
  readonly run: string;
  readonly preset: string;
  /** Steps committed to the run's log; null before the warm start is done. */
  readonly committedStep: number | null;
  readonly totalSteps: number;
  readonly testFreq: number;
  readonly valBeforeTrain: boolean;
  readonly costCoe: number;
  /** Task queue of the paid calls. */
  readonly llmQueue: string;
  readonly baselines: readonly string[];
  readonly complete: boolean;
  /** Whether the server knows our search attributes. */
  readonly searchAttributes: boolean;
}

/** Slots of one piece of work, cut into shards. */
export interface ShardPlan {
  readonly shards: number;
  readonly trajectories: number;
  readonly costCoe: number;
}

/** A shard of trajectories to play; everything else follows from the run's stored config. */
export interface ShardInput {
  readonly run: string;
  readonly phase: Phase;
  readonly step: number;
  readonly round: number;
  readonly shard: number;
  readonly player: Player;
  /** Evaluation only. */
  readonly split?: "dev" | "test";
  readonly llmQueue: string;
}

/** What a shard ended with. */
export interface ShardResult {
  readonly trajectories: ArtifactRef;
  readonly genMs: number;
  readonly callMs: number;
}

/** What a run waits for, shown to operators; `since` is workflow time in ms. */
export interface Wait {
  readonly kind: string;
  readonly reason: string;
  readonly since: number;
  readonly parked: boolean;
}

/** Totals of the ledger for one run, in dollars. */
export interface SpendReport {
  readonly calls: number;
  readonly attempts: number;
  readonly repaid: number;
  readonly lost: number;
  readonly cost_usd: number;
}

/** A committed step in numbers. */
export interface StepReport {
  readonly step: number;
  readonly reward: number;
  readonly exactMatch: number;
  readonly costUsd: number;
  readonly dropped: number;
  readonly weightsSha256: string;
  readonly spend: SpendReport;
}

/** One player judged on one split. */
export interface EvaluationReport {
  readonly name: string;
  readonly regret: number;
  readonly regretLow: number;
  readonly regretHigh: number;
  readonly reward: number;
  readonly exactMatch: number;
  readonly costUsd: number;
  readonly share: Readonly<Record<string, number>>;
}

/** A row of the final table: a player beside the trained policy, on the same questions. */
export interface SummaryRow {
  readonly regret: number;
  readonly regret_ci: readonly [number, number];
  readonly reward: number;
  readonly exact_match: number;
  readonly cost_usd: number;
  /** Its regret less the trained policy's, paired by question; above 0 where the policy is better. */
  readonly regret_above_policy: number;
  readonly regret_above_policy_ci: readonly [number, number];
}

/** The last line of a run's output. */
export interface RunSummary {
  readonly run: string;
  readonly preset: string;
  readonly seed: number;
  readonly step: number;
  readonly best_step: number;
  readonly weights_sha256: string;
  readonly regret: number;
  readonly regret_ci: readonly [number, number];
  readonly exact_match: number;
  readonly cost_usd: number;
  readonly share: Readonly<Record<string, number>>;
  readonly baselines: Readonly<Record<string, SummaryRow>>;
  readonly ledger: SpendReport;
}
