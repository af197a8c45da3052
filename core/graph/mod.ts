/**
 * Graphs: typed ONNX graphs of static shapes, and their gradients.
 * @module
 */
export { type DType, GraphBuilder, type Node, type Op, type Value } from "./builder.ts";
export { gradients } from "./gradients.ts";
export { adamW, globalNorm, OPTIMIZER_INPUTS } from "./optimizer.ts";
