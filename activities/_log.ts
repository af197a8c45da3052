import { decodeBatch } from "../core/algorithms/mod.ts";
import { DamagedArtifactError } from "../core/errors.ts";
import { stepId } from "../core/plan/ids.ts";
import { isDue } from "../core/plan/mod.ts";
import type { Player, SpendReport } from "../core/plan/run.ts";
import type { StateDigest } from "../core/policy/engine.ts";
import type { ArtifactRef } from "../core/storage/artifacts.ts";
import type { Spend } from "../core/storage/ledger.ts";
import type { Ports, RunKit } from "./ports.ts";

/** What the run's log holds of a committed step. */
export interface CommittedUpdate {
  readonly batch: ArtifactRef;
  readonly digest: StateDigest;
  readonly metrics: Readonly<Record<string, number>>;
}

/** `step-000012`: a step's place below its run. */
export const stepKey = (step: number) => stepId("", step).slice(1);

/** The journal key under which the policy after a step is recorded. */
export const policyKey = (step: number) =>
  step === 0 ? "warm-start/policy" : `${stepKey(step)}/update`;

/** The journal key of an evaluation's report. */
export function evaluationKey(player: Player, split: string): string {
  return player.kind === "script"
    ? `eval-${split}/script-${player.name.replaceAll(":", "-")}`
    : `${stepKey(player.step)}/eval-${split}`;
}

/** The digest recorded for the policy after a step; throws when the run has not committed it. */
export async function recordedDigest(
  ports: Ports,
  run: string,
  step: number,
): Promise<StateDigest> {
  const record = await ports.journal.read<{ digest: StateDigest }>(run, policyKey(step));
  if (record !== null) return record.digest;
  throw new DamagedArtifactError(
    `Cannot load the policy of run "${run}" at step ${step}: its log has no such step; choose a committed one`,
  );
}

/** What the run's log holds of the warm start. */
export interface WarmStarted {
  readonly digest: StateDigest;
  /** Cross-entropy of its last optimizer step; null without one. */
  readonly loss: number | null;
}

/**
 * Writes the metrics line of a committed step, unless it is there: also for a step whose worker was killed
 * between its commit and its line. `timing` is known to the worker that did the step alone.
 */
export async function logStep(
  ports: Ports,
  run: string,
  step: number,
  timing: Readonly<Record<string, number>> = {},
): Promise<void> {
  if (step === 0) {
    const warm = await ports.journal.read<WarmStarted>(run, policyKey(0));
    return await ports.runs.appendMetrics(run, {
      kind: "warm_start",
      "training/global_step": 0,
      ...(warm!.loss !== null && { "train/loss": warm!.loss }),
      "actor/weights_sha256": warm!.digest.weights,
    });
  }
  const committed = await ports.journal.read<CommittedUpdate>(run, policyKey(step));
  const { metrics } = decodeBatch(await ports.artifacts.get(committed!.batch));
  await ports.runs.appendMetrics(run, {
    kind: "train",
    "training/global_step": step,
    ...metrics,
    ...committed!.metrics,
    "actor/weights_sha256": committed!.digest.weights,
    ...timing,
  });
}

/** The last step in the run's log, 0 after the warm start, null before it. */
export async function committedStep(ports: Ports, run: string): Promise<number | null> {
  let step = 0;
  while (await ports.journal.read(run, policyKey(step)) !== null) step++;
  return step === 0 ? null : step - 1;
}

/** The price of a dollar in reward that holds for a step. */
export async function costCoeAt(ports: Ports, kit: RunKit, step: number): Promise<number> {
  const updates = await ports.runs.updates(kit.run);
  return updates.filter((update) => update.key === "reward.cost_coe" && update.fromStep <= step)
    .at(-1)?.value ?? kit.config.reward.cost_coe;
}

/** The steps whose policy is judged on dev questions, up to `step`. */
export function judgedSteps(kit: RunKit, step: number): number[] {
  const { test_freq, total_training_steps, val_before_train } = kit.config.trainer;
  const steps = val_before_train ? [0] : [];
  for (let at = 1; at <= step; at++) {
    if (isDue(at, test_freq, total_training_steps)) steps.push(at);
  }
  return steps;
}

/**
 * The judged step with the least dev regret so far (the earliest on ties), which is the best dev reward
 * whatever a dollar was priced at; null when none is judged.
 */
export async function bestJudged(
  ports: Ports,
  kit: RunKit,
  upTo: number,
): Promise<number | null> {
  let best: { step: number; regret: number } | null = null;
  for (const step of judgedSteps(kit, upTo)) {
    const player = { kind: "policy", run: kit.run, step } as const;
    const report = await ports.journal.read<{ report: { regret: number } }>(
      kit.run,
      evaluationKey(player, "dev"),
    );
    if (report !== null && (best === null || report.report.regret < best.regret)) {
      best = { step, regret: report.report.regret };
    }
  }
  return best?.step ?? null;
}

/** Ledger totals in the units people read. */
export function toSpendReport(spend: Spend): SpendReport {
  return {
    calls: spend.calls,
    attempts: spend.attempts,
    repaid: spend.repaid,
    lost: spend.lost,
    cost_usd: spend.costPico / 1e12,
  };
}
