/**
 * Graphs: typed ONNX graphs of static shapes, and their gradients.
 * @module
 */
export { GraphBuilder } from "./builder.ts";
export { gradients } from "./gradients.ts";
export type { DType, Node, Op, Value } from "./model_proto.ts";
export { adamW, globalNorm, OPTIMIZER_INPUTS } from "./optimizer.ts";
