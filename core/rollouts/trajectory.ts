import type { Usage } from "../routing/mod.ts";

/** A call the policy made in a turn, open until its reply arrives. */
export interface OpenCall {
  readonly turn: number;
  readonly call: number;
  readonly model: string;
  readonly question: string;
}

/** A call with its reply. */
export interface AnsweredCall extends OpenCall {
  readonly outcome: "answered" | "content_filter";
  readonly text: string;
  readonly usage: Usage;
  readonly costPico: number;
}

/**
 * One play of a problem. Arrays run parallel to `tokenIds` (prompt, sampled tokens and observations in
 * order) and are named, so that a new kind of record is a new name: `response_mask` (1 where the policy
 * sampled the token), `rollout_log_probs` (natural log under temperature 1, 0 where not sampled).
 */
export interface Trajectory {
  readonly slot: number;
  readonly rollout: number;
  readonly problemId: string;
  readonly promptLength: number;
  readonly tokenIds: readonly number[];
  readonly arrays: Readonly<Record<string, readonly number[]>>;
  /** Turns taken by the policy so far. */
  readonly turns: number;
  readonly calls: readonly AnsweredCall[];
  readonly open: readonly OpenCall[];
  /** Codes of the policy's mistakes, in order. */
  readonly mistakes: readonly string[];
  readonly answer: string | null;
  /** The 1-based reply quoted by `<answer from="…"/>`, else null. */
  readonly answerFrom: number | null;
  /** `live` wants a turn; `waiting` has open calls; the others are final. `dropped`: infrastructure, masked. */
  readonly status: "live" | "waiting" | "answered" | "exhausted" | "dropped";
}
