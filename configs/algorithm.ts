import { z } from "zod";

/** How rewards become advantages. */
export const AlgorithmConfig = z.strictObject({
  /** Group-relative: a rollout is compared with the others of its problem. */
  adv_estimator: z.literal("grpo").default("grpo"),
  /**
   * Divide a group's advantages by their deviation. False is Dr.GRPO, and the safe choice with costs: in a
   * group without a right answer only the price varies, and the division blows it up.
   */
  norm_adv_by_std_in_grpo: z.boolean().default(false),
});
export type AlgorithmConfig = z.infer<typeof AlgorithmConfig>;
