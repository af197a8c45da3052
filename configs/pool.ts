import { z } from "zod";

/** Who answers the calls, and how they are asked. */
export const PoolConfig = z.strictObject({
  /** `world`: the generated world's local server; `replay`: recorded answers. */
  mode: z.enum(["world", "replay"]).default("world"),
  /** Description of the recorded pool, a path below `configs/` or an absolute one; null in mode `world`. */
  replay: z.string().min(1).nullable().default(null),
  /** Tokens a reply may have; with the price, it bounds what a call can cost. */
  max_tokens: z.int().min(1).default(64),
  /** Calls in flight at once. */
  concurrency: z.int().min(1).max(1024).default(16),
  /** Seconds after which a call without an answer counts as an outage. */
  timeout_s: z.number().positive().max(3600).default(30),
});
export type PoolConfig = z.infer<typeof PoolConfig>;
