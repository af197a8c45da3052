import { z } from "zod";

/** How long a run is, and what it keeps. */
export const TrainerConfig = z.strictObject({
  /** Steps of reinforcement learning. */
  total_training_steps: z.int().min(1).default(120),
  /** Seed of weights, plans and samples. */
  seed: z.int().min(0).max(0xffff_ffff).default(1),
  /** Steps between checkpoints; between them the log alone rebuilds a policy. */
  save_freq: z.int().min(1).default(20),
  /** Steps between evaluations on dev problems; −1 never evaluates in between. */
  test_freq: z.int().min(-1).default(20),
  /** Evaluate the warm start on dev problems. */
  val_before_train: z.boolean().default(true),
  /** Checkpoints kept, the newest; step 0 and the best on dev problems are kept beside them. */
  max_actor_ckpt_to_keep: z.int().min(1).default(3),
  /** Threads of the policy's runtime; part of what makes a run equal byte for byte. */
  num_threads: z.int().min(1).max(64).default(2),
});
export type TrainerConfig = z.infer<typeof TrainerConfig>;
