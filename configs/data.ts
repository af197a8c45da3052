import { z } from "zod";

/** Which problems are played, and how many. */
export const DataConfig = z.strictObject({
  /** Problems of a step; each is played `rollout.n` times. At least 1. */
  train_batch_size: z.int().min(1).default(32),
  /** Dev and test problems an evaluation plays, the first of each split; null plays all. */
  val_max_samples: z.int().min(1).nullable().default(null),
  /** Shuffle the training problems anew in every epoch; false keeps their order. */
  shuffle: z.boolean().default(true),
  /** Seed of that shuffle; null takes `trainer.seed`. */
  seed: z.int().min(0).nullable().default(null),
  /** Tokens after the prompt, sampled and observed; a rollout that passes them ends without an answer. */
  max_response_length: z.int().min(1).default(160),
});
export type DataConfig = z.infer<typeof DataConfig>;
