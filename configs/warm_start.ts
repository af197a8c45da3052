import { z } from "zod";

/** Supervised learning from scripted demonstrations, before step 1. */
export const WarmStartConfig = z.strictObject({
  /** Demonstrations played, their calls paid as any other. */
  demonstrations: z.int().min(0).default(4096),
  /** Demonstrations of one optimizer step. */
  batch_size: z.int().min(1).default(64),
  /** Optimizer steps; 0 trains from the initial weights. */
  steps: z.int().min(0).default(800),
  /** First learning rate; falls to 0 in half a cosine. */
  lr: z.number().min(0).default(4e-3),
  /** Decoupled weight decay. */
  weight_decay: z.number().min(0).default(0),
});
export type WarmStartConfig = z.infer<typeof WarmStartConfig>;
