import { workflowInfo } from "@temporalio/workflow";
import type { EvaluationReport, Player } from "../core/plan/run.ts";
import { light } from "./_activities.ts";
import { flag, oneOf, readInput, stepNumber, text } from "./_input.ts";
import { createFamily } from "./_shards.ts";

export interface EvaluateRouterInput {
  readonly run: string;
  /** The checkpoint to judge; without it the newest one. */
  readonly step?: number;
  readonly split?: "dev" | "test";
  /** Judge this script instead of a checkpoint. */
  readonly script?: string;
  readonly paused?: boolean;
}

/** Judges one checkpoint (or one scripted baseline) on held-out questions, greedily. */
export async function evaluateRouter(given: EvaluateRouterInput): Promise<EvaluationReport> {
  const input = readInput<EvaluateRouterInput>("evaluateRouter", given, {
    run: text,
    step: stepNumber,
    split: oneOf("dev", "test"),
    script: text,
    paused: flag,
  }, ["run"]);
  const family = createFamily({ paused: input.paused ?? false });
  const split = input.split ?? "dev";
  const plan = await light.planEvaluation({
    run: input.run,
    split,
    step: input.step ?? null,
  });
  const player: Player = input.script === undefined
    ? { kind: "policy", run: input.run, step: plan.step }
    : { kind: "script", name: input.script };
  const shards = await family.playShards(workflowInfo().workflowId, plan.shards, {
    run: input.run,
    phase: "eval",
    step: plan.step,
    round: 0,
    player,
    split,
    llmQueue: plan.llmQueue,
  });
  return await light.reportEvaluation({
    run: input.run,
    split,
    player,
    step: plan.step,
    shards: shards.map((shard) => shard.trajectories),
  });
}
