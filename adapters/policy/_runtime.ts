import { InferenceSession, Tensor as OnnxTensor } from "onnxruntime-node";

/** Values of a graph's inputs or outputs, by name. */
export type Values = Readonly<Record<string, OnnxTensor>>;

/** Compiles graphs when they are first needed and runs them; blocks its thread while one runs. */
export interface Runtime {
  /** Outputs of the graph known as `key`, which `build` makes; they are the caller's own. */
  run(key: string, build: () => Uint8Array, feeds: Values): Promise<Values>;
}

/** Compiled graphs kept at once; the one unused longest goes first. */
const KEPT_SESSIONS = 24;

/**
 * Runs graphs on the CPU with a fixed number of threads: equal inputs give equal bits on one processor,
 * runtime version and thread count.
 */
export function createRuntime({ numThreads }: { readonly numThreads: number }): Runtime {
  const sessions = new Map<string, InferenceSession>();
  const session = async (key: string, build: () => Uint8Array) => {
    const found = sessions.get(key) ?? await InferenceSession.create(build(), {
      intraOpNumThreads: numThreads,
      interOpNumThreads: 1,
      executionMode: "sequential",
      enableMemPattern: false, // half the memory, no slower
      logSeverityLevel: 3,
      // Adam's second moments become tiny; threads that spin starve other processes, and each other
      extra: { session: { set_denormal_as_zero: "1", intra_op: { allow_spinning: "0" } } },
    });
    sessions.delete(key);
    sessions.set(key, found);
    if (sessions.size > KEPT_SESSIONS) {
      const [oldest, unused] = sessions.entries().next().value!;
      sessions.delete(oldest);
      await unused.release();
    }
    return found;
  };
  return {
    run: async (key, build, feeds) => await (await session(key, build)).run(feeds) as Values,
  };
}

/** fp32 numbers as a value, which shares them. */
export function floats(data: Float32Array, shape: readonly number[]): OnnxTensor {
  return new OnnxTensor("float32", data, [...shape]);
}

/** The numbers of an fp32 value, shared with it. */
export function dataOf(values: Values, name: string): Float32Array {
  return values[name]!.data as Float32Array;
}

/** Whole numbers as int64, written by their low words: ids and positions are below 2^31. */
export function integers(data: Int32Array, shape: readonly number[]): OnnxTensor {
  const words = new Int32Array(2 * data.length);
  for (let i = 0; i < data.length; i++) words[2 * i] = data[i]!;
  return new OnnxTensor("int64", new BigInt64Array(words.buffer), [...shape]);
}
