import type { RewardConfig } from "../../configs/reward.ts";
import type { Problem } from "../data/mod.ts";
import type { Trajectory } from "../rollouts/mod.ts";
import { exactMatch } from "./exact_match.ts";

/** What a finished trajectory was worth. */
export interface Score {
  /** exactMatch − cost_coe · costUsd − (malformed ? format_penalty : 0) */
  readonly reward: number;
  /** 1 or 0: by normalised equality, or the recorded verdict of a reply given word for word. */
  readonly exactMatch: 0 | 1;
  /** Dollars spent on its calls. */
  readonly costUsd: number;
  /** It made a mistake or ended without an answer. */
  readonly malformed: boolean;
}

/**
 * Scores a finished trajectory. Null for a dropped one: an infrastructure failure is never a number.
 * Throws RangeError on a trajectory that is not finished.
 */
export function scoreTrajectory(
  problem: Problem,
  trajectory: Trajectory,
  reward: RewardConfig,
): Score | null {
  const { status, calls, answer, mistakes } = trajectory;
  if (status === "dropped") return null;
  if (status !== "answered" && status !== "exhausted") {
    throw new RangeError(`Cannot score: the trajectory is ${status}`);
  }
  const costUsd = calls.reduce((sum, call) => sum + call.costPico, 0) / 1e12;
  const malformed = answer === null || mistakes.length > 0;
  const em = answer === null
    ? 0
    : recordedVerdict(problem, trajectory) ?? exactMatch(answer, problem.golden_answers);
  const penalty = malformed ? reward.format_penalty : 0;
  return {
    reward: em - reward.cost_coe * costUsd - penalty,
    exactMatch: em,
    costUsd,
    malformed,
  };
}

/** What was recorded of the quoted reply: `extra_info.verdicts` by model; null where nothing was. */
function recordedVerdict(problem: Problem, { answerFrom, calls }: Trajectory): 0 | 1 | null {
  const quoted = answerFrom === null ? undefined : calls[answerFrom - 1];
  const verdicts = problem.extra_info["verdicts"];
  if (quoted?.outcome !== "answered" || typeof verdicts !== "object" || verdicts === null) {
    return null;
  }
  const verdict: unknown = Object.entries(verdicts).find(([model]) => model === quoted.model)?.[1];
  return typeof verdict === "boolean" ? (verdict ? 1 : 0) : null;
}
