import { z } from "zod";

/** Shares of the (entity, relation) pairs that questions of each split begin with, in percent. */
const SHARES = { train: 70, dev: 10, test: 20 } as const;

/** The generated world: facts, who knows them, and questions about them. All follows from these numbers. */
export const WorldConfig = z.strictObject({
  /** Seed of names, facts, knowledge, prices and questions. */
  seed: z.int().min(0).max(0xffff_ffff).default(1),
  entities: z.int().min(16).max(2000).default(200),
  /** Functional relations, shared out among eight specialists. */
  relations: z.int().min(8).max(64).default(16),
  /** Questions by split, one-hop and two-hop in turn; at most two for each pair of the split. */
  train_size: z.int().min(1).default(4000),
  dev_size: z.int().min(1).default(200),
  test_size: z.int().min(1).default(400),
}).superRefine((world, context) => {
  for (const split of ["train", "dev", "test"] as const) {
    const most = 2 * Math.floor(world.entities * world.relations * SHARES[split] / 100);
    if (world[`${split}_size`] > most) {
      context.addIssue({
        code: "custom",
        path: [`${split}_size`],
        message:
          `${world.entities} entities and ${world.relations} relations give at most ${most} questions`,
      });
    }
  }
});
export type WorldConfig = z.infer<typeof WorldConfig>;
