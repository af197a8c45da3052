/**
 * Policy: a transformer as graphs that learn and sample, and the ports they are used through.
 * @module
 */
export type { CheckpointKind, CheckpointStore, ModelFiles } from "./checkpoints.ts";
export { buildPrefillGraph, buildStepGraph } from "./decode.ts";
export type {
  GeneratedTurn,
  GenerateRequest,
  LearnerState,
  LearnRow,
  LossSpec,
  OptimizerStep,
  PolicyEngine,
  StateDigest,
} from "./engine.ts";
export { initialiseParameters, type ModelConfig, parameterShapes } from "./model.ts";
export {
  likeliestToken,
  type SampledToken,
  sampleToken,
  type TokenDistribution,
} from "./sampling.ts";
export type { Tokenizer } from "./tokenizer.ts";
export {
  type BatchShape,
  buildLearnGraph,
  buildLogProbGraph,
  buildUpdateGraph,
  LOSS_INPUTS,
  type LossBuilder,
  type LossInputs,
} from "./train_graph.ts";
