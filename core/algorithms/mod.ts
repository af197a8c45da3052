/**
 * Algorithms: rewards → advantages → loss graph. To add one: a file here, its mirror under `tests/`, a
 * line in `LOSSES`.
 * @module
 */
import type { LossBuilder, LossSpec } from "../policy/mod.ts";
import { ppoClip } from "./ppo_clip.ts";
import { sft } from "./sft.ts";

export { decodeBatch, encodeBatch, type StepBatch } from "./batch.ts";
export { groupAdvantages } from "./grpo.ts";

/** Losses by the type a LossSpec names. */
export const LOSSES: Record<LossSpec["type"], LossBuilder> = { sft, ppo_clip: ppoClip };
