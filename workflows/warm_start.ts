import { device, light } from "./_activities.ts";
import { createFamily } from "./_shards.ts";

/** Plays demonstrations with a scripted demonstrator, then learns to imitate them: the policy at step 0. */
export async function warmStart(
  { run, llmQueue, paused }: { run: string; llmQueue: string; paused?: boolean },
): Promise<{ weightsSha256: string }> {
  const family = createFamily({ paused: paused ?? false });
  const plan = await light.planWarmStart({ run });
  const shards = await family.playShards(`${run}/warm-start`, plan.shards, {
    run,
    phase: "warmup",
    step: 0,
    round: 0,
    player: { kind: "script", name: "demonstrator" },
    llmQueue,
  });
  return await device.warmStartPolicy({ run, shards: shards.map((shard) => shard.trajectories) });
}
