import type { PolicyEngine } from "../../core/policy/mod.ts";
import type { EngineOptions } from "./_local_engine.ts";
import { type EngineCall, receiveError, type Response } from "./_messages.ts";

export type { EngineOptions } from "./_local_engine.ts";

interface Waiting {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
  readonly onStep: ((done: number) => void) | undefined;
}

/**
 * A policy on the CPU through ONNX Runtime, in a thread of its own so that the caller's stays free. Equal
 * requests give equal bits on one processor, runtime version and thread count. Throws InvalidConfigError when
 * the tokenizer does not fit the model.
 */
export async function createPolicyEngine(options: EngineOptions): Promise<PolicyEngine> {
  const worker = new Worker(new URL("./_onnx_worker.ts", import.meta.url), { type: "module" });
  const waiting = new Map<number, Waiting>();
  let sent = 0;
  let ended: Error | null = null;

  const end = (error: Error) => {
    ended ??= error;
    worker.terminate();
    for (const { reject } of waiting.values()) reject(ended);
    waiting.clear();
  };
  worker.onmessage = ({ data }: MessageEvent<Response>) => {
    const call = waiting.get(data.id);
    if (data.type === "progress") return call?.onStep?.(data.done);
    waiting.delete(data.id);
    if (data.type === "result") call?.resolve(data.value);
    else call?.reject(receiveError(data.error));
  };
  worker.onerror = (event) => {
    event.preventDefault();
    end(new Error(`Cannot run the policy: its thread ended with "${event.message}"`));
  };

  const ask = <T>(call: EngineCall, onStep?: (done: number) => void): Promise<T> =>
    new Promise((resolve, reject) => {
      if (ended !== null) return reject(ended);
      const id = sent++;
      waiting.set(id, { resolve: resolve as (value: unknown) => void, reject, onStep });
      worker.postMessage({ id, ...call });
    });

  try {
    await ask<void>({ method: "start", args: [options] });
  } catch (error) {
    worker.terminate();
    throw error;
  }
  return {
    initialise: (...args) => ask({ method: "initialise", args }),
    load: (...args) => ask({ method: "load", args }),
    state: (...args) => ask({ method: "state", args }),
    generate: (...args) => ask({ method: "generate", args }),
    logProbs: (...args) => ask({ method: "logProbs", args }),
    setReference: (...args) => ask({ method: "setReference", args }),
    learn: (...args) => ask({ method: "learn", args }),
    learnMany: (batches, loss, onStep) =>
      ask({ method: "learnMany", args: [batches, loss] }, onStep),
    digest: (...args) => ask({ method: "digest", args }),
    close: async () => {
      end(new Error("Cannot use the policy: its engine is closed"));
      await Promise.resolve();
    },
  };
}
