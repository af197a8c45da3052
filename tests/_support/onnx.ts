import { InferenceSession, Tensor } from "onnxruntime-node";
import type { DType } from "../../core/graph/mod.ts";

/** Numbers of one value, as a test writes them. */
export interface Fed {
  readonly data: readonly number[] | Float32Array;
  readonly shape: readonly number[];
  readonly dtype?: DType;
}

/** Runs a serialised graph on the real runtime; float outputs by name. */
export async function runGraph(
  model: Uint8Array,
  feeds: Readonly<Record<string, Fed>>,
): Promise<Record<string, Float32Array>> {
  const session = await InferenceSession.create(model, {
    logSeverityLevel: 3,
    intraOpNumThreads: 1,
  });
  const tensors = Object.entries(feeds).map(([name, { data, shape, dtype }]) => [
    name,
    dtype === "int64"
      ? new Tensor("int64", BigInt64Array.from(Array.from(data, (x) => BigInt(x))), [...shape])
      : new Tensor("float32", Float32Array.from(data), [...shape]),
  ]);
  const outputs = await session.run(Object.fromEntries(tensors));
  await session.release();
  return Object.fromEntries(
    Object.entries(outputs).map(([name, tensor]) => [name, tensor.data as Float32Array]),
  );
}
