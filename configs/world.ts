import { z } from "zod";

/** The generated world of the quickstart: facts, questions, and specialists that know parts of them. */
export const WorldConfig = z.strictObject({
  /** Seed of facts, names, owners and prices. */
  seed: z.int().min(0).max(0xffff_ffff).default(1),
  /** Things facts are about. */
  entities: z.int().min(20).max(2000).default(200),
  /** Functional relations between them, at least one for each of the eight specialists. */
  relations: z.int().min(8).max(64).default(16),
  /** Questions by split; half have one hop, half two. */
  train_questions: z.int().min(8).max(100_000).default(4000),
  dev_questions: z.int().min(2).max(10_000).default(200),
  test_questions: z.int().min(2).max(10_000).default(400),
});
export type WorldConfig = z.infer<typeof WorldConfig>;
