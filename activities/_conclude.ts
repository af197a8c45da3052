import { pairedRegretDifference } from "../core/rewards/mod.ts";
import type { EvaluationReport, Player, RunSummary, SummaryRow } from "../core/plan/run.ts";
import type { ArtifactRef } from "../core/storage/artifacts.ts";
import { bestJudged, committedStep, evaluationKey, recordedDigest, toSpendReport } from "./_log.ts";
import type { JudgedQuestions } from "./_judge.ts";
import type { Ports, RunKit } from "./ports.ts";

/** What the log keeps of an evaluation. */
export interface RecordedEvaluation {
  readonly report: EvaluationReport;
  readonly questions: ArtifactRef;
}

/** The trained policy beside its warm start and every scripted baseline, from the log alone. */
export async function summarise(ports: Ports, kit: RunKit): Promise<RunSummary> {
  const last = await committedStep(ports, kit.run) ?? 0;
  const best = await bestJudged(ports, kit, last) ?? last;
  const policy = (step: number): Player => ({ kind: "policy", run: kit.run, step });
  const load = async (player: Player) => {
    const record = await ports.journal.read<RecordedEvaluation>(
      kit.run,
      evaluationKey(player, "test"),
    );
    if (record === null) {
      throw new Error(
        `Cannot conclude run "${kit.run}": ${evaluationKey(player, "test")} is absent`,
      );
    }
    const bytes = await ports.artifacts.get(record.questions);
    return {
      report: record.report,
      questions: JSON.parse(new TextDecoder().decode(bytes)) as JudgedQuestions,
    };
  };
  const trained = await load(policy(best));
  const others: [string, Player][] = kit.environment.baselines.map((
    name,
  ) => [name, { kind: "script", name }]);
  others.unshift(["warm_start", policy(0)]);
  const baselines: Record<string, SummaryRow> = {};
  for (const [name, player] of others) {
    const { report, questions } = await load(player);
    const above = comparePaired(questions, trained.questions);
    baselines[name] = {
      regret: report.regret,
      regret_ci: [report.regretLow, report.regretHigh],
      reward: report.reward,
      exact_match: report.exactMatch,
      cost_usd: report.costUsd,
      regret_above_policy: above.value,
      regret_above_policy_ci: [above.low, above.high],
    };
  }
  return {
    run: kit.run,
    preset: kit.preset,
    seed: kit.config.trainer.seed,
    step: last,
    best_step: best,
    weights_sha256: (await recordedDigest(ports, kit.run, last)).weights,
    regret: trained.report.regret,
    regret_ci: [trained.report.regretLow, trained.report.regretHigh],
    exact_match: trained.report.exactMatch,
    cost_usd: trained.report.costUsd,
    share: trained.report.share,
    baselines,
    ledger: toSpendReport(ports.ledger.spend(kit.run)),
  };
}

/** Another player's regret less the policy's, on the questions both have played. */
function comparePaired(other: JudgedQuestions, policy: JudgedQuestions) {
  const place = new Map(policy.problemIds.map((id, i) => [id, i]));
  const shared = other.problemIds.flatMap((id, i) => {
    const at = place.get(id);
    return at === undefined ? [] : [{ i, at }];
  });
  return pairedRegretDifference(
    shared.map(({ i }) => other.rewards[i]!),
    shared.map(({ at }) => policy.rewards[at]!),
    shared.map(({ at }) => policy.optima[at]!),
  );
}
