import { InvalidConfigError } from "../core/errors.ts";
import { decodeBatch } from "../core/algorithms/batch.ts";
import { decodeTrajectories, encodeTrajectories } from "../core/rollouts/mod.ts";
import type { Trajectory } from "../core/rollouts/mod.ts";
import { createRandom, hashText } from "../core/random.ts";
import { cosine, isDue } from "../core/plan/mod.ts";
import type { ShardInput, StepReport } from "../core/plan/run.ts";
import type { ArtifactRef } from "../core/storage/artifacts.ts";
import type { LearnRow, PolicyEngine, StateDigest } from "../core/policy/engine.ts";
import { learnBatch } from "./_learn.ts";
import {
  bestJudged,
  type CommittedUpdate,
  logStep,
  policyKey,
  toSpendReport,
  type WarmStarted,
} from "./_log.ts";
import { playTurn, shardKey, startShard } from "./_shard.ts";
import { createPolicyHolder } from "./policy_holder.ts";
import type { Ports, RunKit } from "./ports.ts";
import { cancellationSignal, startPulse } from "./pulse.ts";

export type PolicyActivities = ReturnType<typeof createPolicyActivities>;

/** What `generateTurns` leaves behind. */
export interface PlayedTurn {
  readonly trajectories: ArtifactRef;
  /** Calls waiting for replies. */
  readonly open: number;
  /** Trajectories that want another turn. */
  readonly live: number;
  readonly ms: number;
}

/** Optimizer steps of the warm start between two of its checkpoints. */
const WARM_START_CHUNK = 100;

/** Steps that need the policy: turns and updates. */
export function createPolicyActivities(ports: Ports) {
  const holder = createPolicyHolder(ports);

  return {
    /** Takes one turn of every live trajectory of a shard; its tokens are durable when it returns. */
    async generateTurns(
      input: ShardInput & { turn: number; trajectories: ArtifactRef | null },
    ): Promise<PlayedTurn> {
      using _pulse = startPulse(`turn ${input.turn + 1}`);
      const from = input.trajectories?.sha256 ?? null;
      return await ports.journal.once(
        input.run,
        `${shardKey(input)}/turn-${input.turn}`,
        { player: input.player, from },
        async () => {
          const startedAt = Date.now();
          const kit = await ports.runs.kit(input.run);
          const before = input.trajectories === null
            ? startShard(kit, input)
            : decodeTrajectories(await ports.artifacts.get(input.trajectories));
          const engine = input.player.kind === "policy"
            ? await holder.at(kit, input.player.step)
            : null;
          const after = await playTurn(kit, input, before, engine);
          return {
            trajectories: await ports.artifacts.put(encodeTrajectories(after)),
            open: after.reduce((sum, trajectory) => sum + trajectory.open.length, 0),
            live: after.filter((trajectory) => trajectory.status === "live").length,
            ms: Date.now() - startedAt,
          };
        },
      );
    },

    /** Learns to imitate the demonstrations; the result is the policy at step 0. */
    async warmStartPolicy(
      { run, shards }: { run: string; shards: readonly ArtifactRef[] },
    ): Promise<{ weightsSha256: string }> {
      using pulse = startPulse("warm start");
      const record = await ports.journal.once<WarmStarted>(
        run,
        policyKey(0),
        { shards: shards.map((shard) => shard.sha256) },
        async () => {
          const kit = await ports.runs.kit(run);
          const rows: LearnRow[] = [];
          for (const shard of shards) {
            rows.push(...demonstrations(decodeTrajectories(await ports.artifacts.get(shard))));
          }
          if (rows.length === 0 && kit.config.warm_start.steps > 0) {
            throw new InvalidConfigError(
              `Cannot warm-start run "${run}": none of ${kit.config.warm_start.demonstrations} demonstrations ended with an answer; raise warm_start.demonstrations or set warm_start.steps=0`,
            );
          }
          const engine = await ports.engines.engine(kit);
          holder.lost();
          const loss = await imitate(kit, engine, rows, pulse.point);
          const digest = await finishWarmStart(kit, engine);
          holder.moved(kit, 0);
          return { digest, loss };
        },
      );
      await logStep(ports, run, 0);
      return { weightsSha256: record.digest.weights };
    },

    /** Applies a step's batch and commits the step to the run's log. */
    async updatePolicy(
      { run, step, batch, startedAt, timing }: {
        run: string;
        step: number;
        batch: ArtifactRef;
        startedAt: number;
        timing: { gen: number; calls: number; reward: number };
      },
    ): Promise<StepReport> {
      using pulse = startPulse(`update ${step}`);
      const kit = await ports.runs.kit(run);
      const began = Date.now();
      const stored = decodeBatch(await ports.artifacts.get(batch));
      const committed = await ports.journal.once<CommittedUpdate>(
        run,
        policyKey(step),
        { batch: batch.sha256 },
        async () => {
          const engine = await holder.at(kit, step - 1);
          holder.lost(); // until the step is whole, the engine holds no known step
          const metrics = await learnBatch(engine, kit.config, step, stored.rows);
          const digest = await engine.digest();
          if (wantsCheckpoint(kit, step)) {
            pulse.point(`checkpoint ${step}`);
            await ports.checkpoints.save(
              run,
              "checkpoints",
              step,
              await engine.state(),
              kit.modelFiles,
            );
            const best = await bestJudged(ports, kit, step);
            const keep = kit.config.trainer.max_actor_ckpt_to_keep;
            await ports.checkpoints.prune(run, "checkpoints", keep, [0, best ?? 0]);
          }
          holder.moved(kit, step);
          return { batch, digest, metrics };
        },
      );
      const spend = toSpendReport(ports.ledger.spend(run));
      await logStep(ports, run, step, {
        "timing_s/gen": timing.gen,
        "timing_s/calls": timing.calls,
        "timing_s/reward": timing.reward,
        "timing_s/update_actor": (Date.now() - began) / 1000,
        "timing_s/step": (Date.now() - startedAt) / 1000,
      });
      return {
        step,
        reward: stored.metrics["critic/rewards/mean"] ?? 0,
        exactMatch: stored.metrics["critic/score/mean"] ?? 0,
        costUsd: stored.metrics["external/cost_usd"] ?? 0,
        dropped: stored.metrics["training/rollout_failure/evicted_samples"] ?? 0,
        weightsSha256: committed.digest.weights,
        spend,
      };
    },
  };

  async function imitate(
    kit: RunKit,
    engine: PolicyEngine,
    rows: readonly LearnRow[],
    point: (at: string) => void,
  ): Promise<number | null> {
    const { warm_start, trainer } = kit.config;
    const saved = await ports.checkpoints.newest(kit.run, "warm_start", warm_start.steps);
    if (saved === null) await engine.initialise(trainer.seed);
    else await engine.load(saved.state);
    let loss: number | null = null;
    for (let done = saved?.step ?? 0; done < warm_start.steps;) {
      cancellationSignal().throwIfAborted(); // deleted or cancelled: the next chunk is not for anybody
      point(`warm start ${done}/${warm_start.steps}`);
      const until = Math.min(done + WARM_START_CHUNK, warm_start.steps);
      const base = done;
      const reports = await engine.learnMany(
        warmStartBatches(kit, rows, done, until),
        SUPERVISED,
        (steps) => point(`warm start ${base + steps}/${warm_start.steps}`),
      );
      loss = reports.at(-1)?.["loss"] ?? loss;
      done = until;
      if (done < warm_start.steps) {
        await ports.checkpoints.save(
          kit.run,
          "warm_start",
          done,
          await engine.state(),
          kit.modelFiles,
        );
        await ports.checkpoints.prune(kit.run, "warm_start", 2, []);
      }
    }
    return loss;
  }

  async function finishWarmStart(kit: RunKit, engine: PolicyEngine): Promise<StateDigest> {
    const trained = await engine.state();
    // Moments and step of the warm start are not carried into reinforcement learning.
    const state = new Map([...trained].filter(([name]) => name.startsWith("actor/")));
    const digest = await engine.load(state);
    if (kit.config.actor_rollout_ref.actor.use_kl_loss) await engine.setReference();
    await ports.checkpoints.save(kit.run, "checkpoints", 0, await engine.state(), kit.modelFiles);
    return digest;
  }
}

/** A policy that will be judged is kept too, so that the best one can be. */
function wantsCheckpoint(kit: RunKit, step: number): boolean {
  const { save_freq, test_freq, total_training_steps } = kit.config.trainer;
  return [save_freq, test_freq].some((freq) => isDue(step, freq, total_training_steps));
}

const SUPERVISED = {
  type: "sft",
  clipRatioLow: 0,
  clipRatioHigh: 0,
  entropyCoeff: 0,
  klLossCoef: 0,
} as const;

/** Separates the order of demonstrations from every other use of the run's seed. */
const DEMONSTRATIONS = hashText("demonstrations");

/** Optimizer steps [from, until) of the warm start. */
function warmStartBatches(kit: RunKit, rows: readonly LearnRow[], from: number, until: number) {
  const { warm_start, trainer, actor_rollout_ref } = kit.config;
  const { optim, grad_clip } = actor_rollout_ref.actor;
  const perEpoch = Math.max(1, Math.floor(rows.length / warm_start.batch_size));
  const epochs = new Map<number, LearnRow[]>();
  return Array.from({ length: until - from }, (_, i) => {
    const at = from + i;
    const epoch = Math.floor(at / perEpoch);
    const order = epochs.get(epoch) ??
      createRandom(trainer.seed, DEMONSTRATIONS, epoch).shuffle(rows);
    epochs.set(epoch, order);
    const first = (at % perEpoch) * warm_start.batch_size;
    return {
      rows: order.slice(first, first + warm_start.batch_size),
      optimizer: {
        lr: cosine(warm_start.lr, at, warm_start.steps),
        beta1: optim.betas[0],
        beta2: optim.betas[1],
        eps: optim.eps,
        weightDecay: warm_start.weight_decay,
        gradClip: grad_clip,
      },
    };
  });
}

/** Rows to imitate: every trajectory that ended with an answer. */
function demonstrations(trajectories: readonly Trajectory[]): LearnRow[] {
  return trajectories
    .filter((trajectory) => trajectory.status === "answered")
    .map(({ tokenIds, arrays }) => ({
      tokenIds,
      responseMask: arrays["response_mask"]!,
      arrays: {},
    }));
}
