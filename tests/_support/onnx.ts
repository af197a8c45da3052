import { InferenceSession, Tensor } from "onnxruntime-node";
import type { DType } from "../../core/graph/mod.ts";

/** Numbers of one value, as a test writes them. */
export interface Fed {
  readonly data: readonly number[] | Float32Array;
  readonly shape: readonly number[];
  readonly dtype?: DType;
}

/** A graph on the real runtime, for several runs; float outputs by name. */
export async function openGraph(model: Uint8Array) {
  const session = await InferenceSession.create(model, {
    logSeverityLevel: 3,
    intraOpNumThreads: 1,
  });
  return {
    run: async (feeds: Readonly<Record<string, Fed>>): Promise<Record<string, Float32Array>> => {
      const tensors = Object.entries(feeds).map(([name, fed]) => [name, toTensor(fed)]);
      const outputs = await session.run(Object.fromEntries(tensors));
      return Object.fromEntries(
        Object.entries(outputs).map(([name, tensor]) => [name, tensor.data as Float32Array]),
      );
    },
    [Symbol.asyncDispose]: () => session.release(),
  };
}

/** Runs a serialised graph once. */
export async function runGraph(
  model: Uint8Array,
  feeds: Readonly<Record<string, Fed>>,
): Promise<Record<string, Float32Array>> {
  await using graph = await openGraph(model);
  return await graph.run(feeds);
}

function toTensor({ data, shape, dtype }: Fed): Tensor {
  return dtype === "int64"
    ? new Tensor("int64", BigInt64Array.from(Array.from(data, (x) => BigInt(x))), [...shape])
    : new Tensor("float32", Float32Array.from(data), [...shape]);
}
