import { stepId } from "../core/plan/ids.ts";
import type { StepReport } from "../core/plan/run.ts";
import { device, light } from "./_activities.ts";
import { createFamily } from "./_shards.ts";

/** One step: plan, rollouts, rewards, optimizer steps, commit to the run's log. */
export async function trainIteration(
  { run, step, llmQueue, paused }: {
    run: string;
    step: number;
    llmQueue: string;
    paused?: boolean;
  },
): Promise<StepReport> {
  const startedAt = Date.now();
  const family = createFamily({ paused: paused ?? false });
  const plan = await light.planStep({ run, step });
  const shards = await family.playShards(stepId(run, step), plan.shards, {
    run,
    phase: "train",
    step,
    round: 0,
    player: { kind: "policy", run, step: step - 1 },
    llmQueue,
  });
  const scored = await light.scoreStep({
    run,
    step,
    costCoe: plan.costCoe,
    shards: shards.map((shard) => shard.trajectories),
  });
  return await device.updatePolicy({
    run,
    step,
    batch: scored.batch,
    startedAt,
    timing: {
      gen: Math.max(...shards.map((shard) => shard.genMs)) / 1000,
      calls: Math.max(...shards.map((shard) => shard.callMs)) / 1000,
      reward: scored.ms / 1000,
    },
  });
}
