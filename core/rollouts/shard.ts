import { z } from "zod";
import { DamagedArtifactError } from "../errors.ts";
import type { Trajectory } from "./trajectory.ts";

const count = z.int().min(0);
const call = z.strictObject({ turn: count, call: count, model: z.string(), question: z.string() });

const StoredTrajectory = z.strictObject({
  slot: count,
  rollout: count,
  problemId: z.string(),
  promptLength: count,
  tokenIds: z.array(count),
  arrays: z.record(z.string(), z.array(z.number())),
  turns: count,
  calls: z.array(call.extend({
    outcome: z.enum(["answered", "content_filter"]),
    text: z.string(),
    usage: z.strictObject({ promptTokens: count, completionTokens: count }),
    costPico: count,
  })),
  open: z.array(call),
  mistakes: z.array(z.string()),
  answer: z.string().nullable(),
  answerFrom: count.nullable(),
  status: z.enum(["live", "waiting", "answered", "exhausted", "dropped"]),
}).refine(
  ({ tokenIds, arrays }) => Object.values(arrays).every((row) => row.length === tokenIds.length),
  "an array is not parallel to tokenIds",
);

/** Trajectories as bytes: UTF-8 JSON, the same for equal trajectories. */
export function encodeTrajectories(trajectories: readonly Trajectory[]): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(trajectories));
}

/** The trajectories `encodeTrajectories` wrote; throws DamagedArtifactError on other bytes. */
export function decodeTrajectories(bytes: Uint8Array): Trajectory[] {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder().decode(bytes));
  } catch (cause) {
    throw new DamagedArtifactError("Cannot read trajectories: the bytes are no JSON", { cause });
  }
  const parsed = z.array(StoredTrajectory).safeParse(value);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  throw new DamagedArtifactError(
    `Cannot read trajectories: ${issue?.path.join(".")} is wrong (${issue?.message})`,
  );
}
