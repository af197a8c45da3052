import { createHash } from "node:crypto";
import type { PolicyEngine } from "../core/policy/engine.ts";
import { planDemonstrations, planEvaluation, planStep, type Slot } from "../core/plan/mod.ts";
import { shardId } from "../core/plan/ids.ts";
import type { ShardInput } from "../core/plan/run.ts";
import { createRandom, hashText } from "../core/random.ts";
import { startTrajectory, takeTurn, type Trajectory } from "../core/rollouts/mod.ts";
import { evaluationKey, recordedDigest, stepKey } from "./_log.ts";
import type { Ports, RunKit } from "./ports.ts";

/** Counters that keep the draws of different phases apart. */
const PHASES = { train: 1, warmup: 2, eval: 3 } as const;
const SCRIPTS = hashText("scripts");

/** The journal key of a shard, below its run. */
export function shardKey(input: ShardInput): string {
  const parent = input.phase === "train"
    ? stepKey(input.step)
    : input.phase === "warmup"
    ? "warm-start"
    : evaluationKey(input.player, input.split!);
  return shardId(parent, input.round, input.shard);
}

/**
 * What the keys of a shard's calls are scoped by: run and step, or, in an evaluation, the weights and
 * the evaluation's own digest, so that two evaluations of one checkpoint pay once.
 */
export async function callScope(ports: Ports, kit: RunKit, input: ShardInput): Promise<string> {
  if (input.phase === "train") return `${input.run}/${input.step}`;
  if (input.phase === "warmup") return `${input.run}/warm-start`;
  const judged = input.player.kind === "script"
    ? createHash("sha256").update(input.player.name).digest("hex")
    : (await recordedDigest(ports, input.player.run, input.player.step)).weights;
  return `${judged.slice(0, 16)}/${kit.evaluationDigest.slice(0, 16)}-${input.split}`;
}

/** The slots of a piece of work, in order, shard after shard. */
export function slotsOf(kit: RunKit, input: Pick<ShardInput, "phase" | "step" | "split">): Slot[] {
  const { config, environment } = kit;
  if (input.phase === "eval") {
    return planEvaluation(environment.problems(input.split!), config.data.val_max_samples);
  }
  const train = environment.problems("train");
  return input.phase === "train"
    ? planStep(train, config, input.step)
    : planDemonstrations(train, config);
}

/** How many trajectories a shard holds and how many shards a piece of work has. */
export function shardSize(kit: RunKit): number {
  return kit.config.actor_rollout_ref.rollout.trajectories_per_shard;
}

/** The fresh trajectories of one shard. */
export function startShard(kit: RunKit, input: ShardInput): Trajectory[] {
  const size = shardSize(kit);
  return slotsOf(kit, input)
    .slice(input.shard * size, (input.shard + 1) * size)
    .map(({ slot, rollout, problemId }) =>
      startTrajectory({
        problem: kit.problems.get(problemId)!,
        slot,
        rollout,
        tokenizer: kit.tokenizer,
        protocol: kit.protocol,
      })
    );
}

/** Gives every live trajectory its next turn, written by the policy or, without an engine, by the script. */
export async function playTurn(
  kit: RunKit,
  input: ShardInput & { turn: number },
  trajectories: readonly Trajectory[],
  engine: PolicyEngine | null,
): Promise<Trajectory[]> {
  const live = trajectories.filter((trajectory) => trajectory.status === "live");
  const { rollout } = kit.config.actor_rollout_ref;
  const counters = (trajectory: Trajectory) => [
    // an evaluation's draws are its own, so that runs of other seeds share its calls
    input.phase === "eval" ? 0 : kit.config.trainer.seed,
    PHASES[input.phase],
    input.phase === "eval" ? 0 : input.step,
    input.round,
    trajectory.slot,
    trajectory.rollout,
    trajectory.turns,
  ];
  const script = input.player.kind === "script" ? kit.environment.script(input.player.name) : null;
  const written = engine !== null
    ? await engine.generate({
      prompts: live.map((trajectory) => trajectory.tokenIds),
      seeds: live.map(counters),
      maxNewTokens: rollout.max_new_tokens,
      temperature: input.phase === "eval" ? 0 : rollout.temperature,
      stopStrings: kit.protocol.stopStrings,
    })
    : live.map((trajectory) => {
      const random = createRandom(SCRIPTS, ...counters(trajectory));
      const text = script!(kit.problems.get(trajectory.problemId)!, trajectory, random);
      const tokenIds = kit.tokenizer.encode(text);
      return { tokenIds, logProbs: tokenIds.map(() => 0), finish: "stop" as const };
    });
  const next = new Map(
    live.map((trajectory, i) => [
      trajectory,
      takeTurn(trajectory, written[i]!, turnRules(kit, trajectory)),
    ]),
  );
  return trajectories.map((trajectory) => next.get(trajectory) ?? trajectory);
}

/** What the protocol needs to know to read a turn of this trajectory. */
export function turnRules(kit: RunKit, trajectory: Trajectory) {
  const { data, actor_rollout_ref: { rollout } } = kit.config;
  return {
    problem: kit.problems.get(trajectory.problemId)!,
    protocol: kit.protocol,
    tokenizer: kit.tokenizer,
    candidates: kit.environment.candidates,
    verbatimOnly: kit.environment.verbatimOnly,
    maxTurns: rollout.multi_turn.max_assistant_turns,
    maxResponseTokens: data.max_response_length,
    maxObservationTokens: rollout.max_tool_response_length,
  };
}
