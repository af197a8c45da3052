import { z } from "zod";
import { ActorRolloutRefConfig } from "./actor_rollout_ref.ts";
import { AlgorithmConfig } from "./algorithm.ts";
import { BudgetConfig } from "./budget.ts";
import { DataConfig } from "./data.ts";
import { PoolConfig } from "./pool.ts";
import { RewardConfig } from "./reward.ts";
import { TrainerConfig } from "./trainer.ts";
import { WarmStartConfig } from "./warm_start.ts";
import { WorldConfig } from "./world.ts";

/** Everything a run is; an empty object is the quickstart. */
export const RunConfig = z.strictObject({
  data: DataConfig.prefault({}),
  actor_rollout_ref: ActorRolloutRefConfig.prefault({}),
  algorithm: AlgorithmConfig.prefault({}),
  reward: RewardConfig.prefault({}),
  warm_start: WarmStartConfig.prefault({}),
  trainer: TrainerConfig.prefault({}),
  pool: PoolConfig.prefault({}),
  budget: BudgetConfig.prefault({}),
  world: WorldConfig.prefault({}),
});
export type RunConfig = z.infer<typeof RunConfig>;
