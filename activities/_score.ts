import { groupAdvantages } from "../core/algorithms/mod.ts";
import type { StepBatch } from "../core/algorithms/batch.ts";
import type { LearnRow } from "../core/policy/engine.ts";
import { scoreTrajectory } from "../core/rewards/mod.ts";
import type { Score } from "../core/rewards/mod.ts";
import type { Trajectory } from "../core/rollouts/mod.ts";
import type { RunKit } from "./ports.ts";

/** The score of each trajectory, in order; null where infrastructure failed: no number at all. */
export function scoresOf(
  kit: RunKit,
  trajectories: readonly Trajectory[],
  costCoe: number,
): (Score | null)[] {
  return trajectories.map((trajectory) =>
    trajectory.status === "dropped"
      ? null
      : scoreTrajectory(kit.problems.get(trajectory.problemId)!, trajectory, {
        ...kit.config.reward,
        cost_coe: costCoe,
      })
  );
}

/** Rewards → advantages → rows to learn from, with the step's metrics under verl's names. */
export function scoreRollouts(
  kit: RunKit,
  trajectories: readonly Trajectory[],
  costCoe: number,
): StepBatch {
  const scores = scoresOf(kit, trajectories, costCoe);
  const groups = new Map<number, number[]>();
  trajectories.forEach(({ slot }, i) => groups.set(slot, [...groups.get(slot) ?? [], i]));
  const advantages = new Array<number>(trajectories.length).fill(0);
  let flat = 0;
  for (const members of groups.values()) {
    const rewards = members.map((i) => scores[i]?.reward ?? null);
    const values = groupAdvantages(rewards, {
      normByStd: kit.config.algorithm.norm_adv_by_std_in_grpo,
    });
    if (values.every((value) => value === 0)) flat++;
    members.forEach((i, k) => advantages[i] = values[k]!);
  }
  const rows: LearnRow[] = trajectories.flatMap((trajectory, i) =>
    scores[i] === null ? [] : [toRow(trajectory, advantages[i]!)]
  );
  const metrics = metricsOf(trajectories, scores, advantages, flat / groups.size);
  return { rows, metrics: { ...metrics, "reward/cost_coe": costCoe } };
}

function toRow(trajectory: Trajectory, advantage: number): LearnRow {
  const mask = trajectory.arrays["response_mask"]!;
  return {
    tokenIds: trajectory.tokenIds,
    responseMask: mask,
    arrays: {
      advantages: mask.map((m) => m > 0 ? m * advantage : 0),
      old_log_probs: trajectory.arrays["rollout_log_probs"]!,
    },
  };
}

function metricsOf(
  trajectories: readonly Trajectory[],
  scores: readonly (Score | null)[],
  advantages: readonly number[],
  flatShare: number,
): Record<string, number> {
  const scored = scores.filter((score) => score !== null);
  const kept = trajectories.filter((_, i) => scores[i] !== null);
  const lengths = kept.map((trajectory) => sum(trajectory.arrays["response_mask"]!));
  const calls = kept.map((trajectory) => trajectory.calls.length);
  return {
    ...spread("critic/rewards", scored.map((score) => score.reward)),
    ...spread("critic/score", scored.map((score) => score.exactMatch)),
    ...spread("critic/cost", scored.map((score) => score.costUsd)),
    ...spread("critic/advantages", advantages),
    ...spread("response_length", lengths),
    ...spread("num_turns", kept.map((trajectory) => trajectory.turns)),
    ...spread("tool_call_counts", calls),
    "env/finish_ratio": mean(kept.map(({ status }) => Number(status === "answered"))),
    "env/malformed_ratio": mean(scored.map((score) => Number(score.malformed))),
    "training/frac_reward_zero_std": flatShare,
    "training/rollout_failure/evicted_samples": trajectories.length - kept.length,
    "training/dispatched_samples": trajectories.length,
    "training/trained_samples": kept.length,
    ...callShares(kept),
    "external/calls": sum(calls),
    "external/cost_usd": sum(scored.map((score) => score.costUsd)),
  };
}

/** `env/call_share/{model}`: each model's part of the calls. */
function callShares(trajectories: readonly Trajectory[]): Record<string, number> {
  return Object.fromEntries(
    Object.entries(shareOf(trajectories)).map(([model, part]) => [`env/call_share/${model}`, part]),
  );
}

/** Each model's part of the calls, largest first; empty when none was made. */
export function shareOf(trajectories: readonly Trajectory[]): Record<string, number> {
  const calls = trajectories.flatMap((trajectory) => trajectory.calls);
  const counts = new Map<string, number>();
  for (const { model } of calls) counts.set(model, (counts.get(model) ?? 0) + 1);
  return Object.fromEntries(
    [...counts].sort(([, a], [, b]) => b - a).map(([model, n]) => [model, n / calls.length]),
  );
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
const mean = (values: readonly number[]) => values.length === 0 ? 0 : sum(values) / values.length;

function spread(name: string, values: readonly number[]): Record<string, number> {
  if (values.length === 0) return {};
  const extreme = (pick: (a: number, b: number) => number) => values.reduce((a, b) => pick(a, b));
  return {
    [`${name}/mean`]: mean(values),
    [`${name}/max`]: extreme(Math.max),
    [`${name}/min`]: extreme(Math.min),
  };
}
