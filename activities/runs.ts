import { encodeBatch } from "../core/algorithms/batch.ts";
import { InvalidConfigError } from "../core/errors.ts";
import type { EvaluationReport, Player, RunPlan, ShardPlan } from "../core/plan/run.ts";
import { decodeTrajectories, type Trajectory } from "../core/rollouts/mod.ts";
import type { ArtifactRef } from "../core/storage/artifacts.ts";
import { type RecordedEvaluation, summarise } from "./_conclude.ts";
import { judge } from "./_judge.ts";
import { bestJudged, committedStep, costCoeAt, evaluationKey, logStep, stepKey } from "./_log.ts";
import { scoreRollouts } from "./_score.ts";
import { shardSize, slotsOf } from "./_shard.ts";
import type { Ports, RunKit } from "./ports.ts";
import { startPulse } from "./pulse.ts";

export type RunActivities = ReturnType<typeof createRunActivities>;

/** Light steps: what to do next, what it was worth. */
export function createRunActivities(ports: Ports) {
  const load = async (shards: readonly ArtifactRef[]): Promise<Trajectory[]> => {
    const parts = await Promise.all(shards.map((shard) => ports.artifacts.get(shard)));
    return parts.flatMap((bytes) => decodeTrajectories(bytes));
  };
  const cut = (kit: RunKit, trajectories: number, costCoe: number): ShardPlan => ({
    shards: Math.ceil(trajectories / shardSize(kit)),
    trajectories,
    costCoe,
  });

  return {
    /** Resolves and validates the config of a run, or finds the one it began with, and where it stands. */
    async resolveRun(
      { preset, run, overrides }: { preset: string; run: string; overrides: readonly string[] },
    ): Promise<RunPlan> {
      using _pulse = startPulse("reading the config");
      await ports.runs.begin(run, preset, overrides);
      const kit = await ports.runs.kit(run);
      const committed = await committedStep(ports, run);
      if (committed !== null) await logStep(ports, run, committed);
      const { trainer } = kit.config;
      return {
        run,
        preset: kit.preset,
        committedStep: committed,
        totalSteps: trainer.total_training_steps,
        testFreq: trainer.test_freq,
        valBeforeTrain: trainer.val_before_train,
        costCoe: await costCoeAt(ports, kit, (committed ?? 0) + 1),
        llmQueue: `holdfast-llm-${kit.config.pool.mode}`,
        baselines: kit.environment.baselines,
        complete: committed !== null && committed >= trainer.total_training_steps &&
          await ports.runs.readSummary(run) !== null,
        searchAttributes: ports.searchAttributes,
      };
    },

    /** Fixes what a step plays: its slots, its shards and the price of a dollar. */
    async planStep({ run, step }: { run: string; step: number }): Promise<ShardPlan> {
      using _pulse = startPulse(`plan ${step}`);
      const kit = await ports.runs.kit(run);
      const costCoe = await costCoeAt(ports, kit, step);
      return await ports.journal.once(
        run,
        `${stepKey(step)}/plan`,
        { costCoe },
        () => Promise.resolve(cut(kit, slotsOf(kit, { phase: "train", step }).length, costCoe)),
      );
    },

    /** How many shards the demonstrations fill. */
    async planWarmStart({ run }: { run: string }): Promise<ShardPlan> {
      using _pulse = startPulse("plan of the warm start");
      const kit = await ports.runs.kit(run);
      return cut(
        kit,
        slotsOf(kit, { phase: "warmup", step: 0 }).length,
        kit.config.reward.cost_coe,
      );
    },

    /** Which checkpoint an evaluation judges and how many shards its questions fill. */
    async planEvaluation(
      { run, split, step }: { run: string; split: "dev" | "test"; step: number | null },
    ): Promise<{ step: number; shards: number; llmQueue: string }> {
      using _pulse = startPulse("plan of an evaluation");
      const kit = await ports.runs.kit(run);
      const committed = await committedStep(ports, run);
      const at = step ?? committed;
      if (at === null || committed === null || at > committed) {
        throw new InvalidConfigError(
          `Cannot evaluate run "${run}" at step ${at}: its last committed step is ${committed}; train it first or name an earlier step`,
        );
      }
      const { shards } = cut(kit, slotsOf(kit, { phase: "eval", step: at, split }).length, 0);
      return { step: at, shards, llmQueue: `holdfast-llm-${kit.config.pool.mode}` };
    },

    /** Rewards, advantages and metrics of a step's rollouts, stored with them. */
    async scoreStep(
      { run, step, costCoe, shards }: {
        run: string;
        step: number;
        costCoe: number;
        shards: readonly ArtifactRef[];
      },
    ): Promise<{ batch: ArtifactRef; ms: number }> {
      using _pulse = startPulse(`score ${step}`);
      const startedAt = Date.now();
      const { batch } = await ports.journal.once(
        run,
        `${stepKey(step)}/score`,
        { costCoe, shards: shards.map((shard) => shard.sha256) },
        async () => {
          const kit = await ports.runs.kit(run);
          const scored = scoreRollouts(kit, await load(shards), costCoe);
          return { batch: await ports.artifacts.put(encodeBatch(scored)) };
        },
      );
      return { batch, ms: Date.now() - startedAt };
    },

    /** Scores an evaluation's plays and records the result beside the run. */
    async reportEvaluation(
      { run, split, player, step, shards }: {
        run: string;
        split: "dev" | "test";
        player: Player;
        step: number;
        shards: readonly ArtifactRef[];
      },
    ): Promise<EvaluationReport> {
      using _pulse = startPulse(`report ${split}`);
      const kit = await ports.runs.kit(run);
      // test results stand beside each other: all at the price of the last step
      const priced = split === "test" ? await committedStep(ports, run) ?? 0 : step;
      const costCoe = await costCoeAt(ports, kit, priced);
      const { report } = await ports.journal.once<RecordedEvaluation>(
        run,
        evaluationKey(player, split),
        { costCoe, shards: shards.map((shard) => shard.sha256) },
        async () => {
          const name = player.kind === "script" ? player.name : `step ${player.step}`;
          const { report, questions } = judge(kit, name, await load(shards), costCoe);
          const bytes = new TextEncoder().encode(JSON.stringify(questions));
          return { report, questions: await ports.artifacts.put(bytes) };
        },
      );
      if (player.kind === "policy") {
        const source = kit.environment.name;
        await ports.runs.appendMetrics(run, {
          kind: `val-${split}`,
          "training/global_step": step,
          [`val-core/${source}/reward/mean@1`]: report.reward,
          [`val-core/${source}/em/mean@1`]: report.exactMatch,
          [`val-core/${source}/regret/mean@1`]: report.regret,
          [`val/test_score/cost/${source}`]: report.costUsd,
        });
      }
      return report;
    },

    /** Records a new price of a dollar with the first step it holds for; repeating an id changes nothing. */
    async recordCoefficient(
      { run, id, value, fromStep }: { run: string; id: string; value: number; fromStep: number },
    ): Promise<{ before: number; after: number; fromStep: number }> {
      using _pulse = startPulse("coefficient");
      const kit = await ports.runs.kit(run);
      const known = (await ports.runs.updates(run)).find((update) => update.id === id);
      const at = known?.fromStep ?? fromStep;
      const before = await costCoeAt(ports, kit, at - 1);
      if (known === undefined) {
        await ports.runs.addUpdate(run, { id, key: "reward.cost_coe", value, fromStep });
      }
      return { before, after: known?.value ?? value, fromStep: at };
    },

    /** The step whose policy is kept as the result: the best on dev questions, else the last. */
    async chooseBest({ run }: { run: string }): Promise<{ step: number }> {
      using _pulse = startPulse("choosing the best step");
      const kit = await ports.runs.kit(run);
      const last = await committedStep(ports, run) ?? 0;
      return { step: await bestJudged(ports, kit, last) ?? last };
    },

    /** Writes the run's summary: policy, warm start and baselines on the same questions. */
    async concludeRun({ run }: { run: string }): Promise<void> {
      using _pulse = startPulse("summary");
      await ports.runs.writeSummary(run, await summarise(ports, await ports.runs.kit(run)));
    },
  };
}
