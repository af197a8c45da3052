import { z } from "zod";

/** reward = metric − cost_coe · dollars − format_penalty where malformed. */
export const RewardConfig = z.strictObject({
  /** Normalised exact match, or the recorded verdict of a reply given word for word. */
  reward_metric: z.literal("em").default("em"),
  /** Reward one dollar of calls takes away. */
  cost_coe: z.number().min(0).default(100),
  /** Reward taken away from a rollout that made a mistake or ended without an answer. */
  format_penalty: z.number().min(0).default(0.1),
});
export type RewardConfig = z.infer<typeof RewardConfig>;
