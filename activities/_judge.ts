import { InvalidConfigError } from "../core/errors.ts";
import { regretInterval } from "../core/rewards/mod.ts";
import type { EvaluationReport } from "../core/plan/run.ts";
import type { Trajectory } from "../core/rollouts/mod.ts";
import { scoresOf, shareOf } from "./_score.ts";
import type { RunKit } from "./ports.ts";

/** One player's result question by question; a question whose play was dropped is left out. */
export interface JudgedQuestions {
  readonly problemIds: readonly string[];
  readonly rewards: readonly number[];
  readonly optima: readonly number[];
}

/** Judges greedy plays of held-out questions: reward with cost, against the exact optimum. */
export function judge(
  kit: RunKit,
  name: string,
  trajectories: readonly Trajectory[],
  costCoe: number,
): { report: EvaluationReport; questions: JudgedQuestions } {
  const scores = scoresOf(kit, trajectories, costCoe);
  const kept = trajectories.filter((_, i) => scores[i] !== null);
  const scored = scores.filter((score) => score !== null);
  if (scored.length === 0) {
    throw new InvalidConfigError(
      `Cannot judge ${name}: every play was dropped, for the candidates refuse all its calls; look at the pool`,
    );
  }
  const rewards = scored.map((score) => score.reward);
  const optima = kept.map((trajectory) =>
    kit.environment.optimum(kit.problems.get(trajectory.problemId)!, costCoe)
  );
  const mean = (values: readonly number[]) => values.reduce((a, b) => a + b, 0) / values.length;
  const regret = regretInterval(rewards, optima);
  return {
    questions: { problemIds: kept.map(({ problemId }) => problemId), rewards, optima },
    report: {
      name,
      regret: regret.value,
      regretLow: regret.low,
      regretHigh: regret.high,
      reward: mean(rewards),
      exactMatch: mean(scored.map((score) => score.exactMatch)),
      costUsd: scored.reduce((sum, score) => sum + score.costUsd, 0),
      share: shareOf(kept),
    },
  };
}
