/**
 * Plans: what a step plays, when something is due, how large a step of learning is, and what pieces of
 * work are called. Functions of seeds and positions, so any attempt plans the same; workflows may use them.
 * @module
 */
export { isDue } from "./cadence.ts";
export { callKey, type CallPlace, type Phase, shardId, stepId } from "./ids.ts";
export type {
  EvaluationReport,
  Player,
  RunPlan,
  RunSummary,
  ShardInput,
  ShardPlan,
  ShardResult,
  SpendReport,
  StepReport,
  SummaryRow,
  Wait,
} from "./run.ts";
export { cosine, warmUp } from "./schedules.ts";
export { planDemonstrations, planEvaluation, type Planned, planStep, type Slot } from "./slots.ts";
