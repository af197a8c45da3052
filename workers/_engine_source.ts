import type { EngineSource, RunKit } from "../activities/ports.ts";
import { createPolicyEngine } from "../adapters/policy/engine.ts";
import type { PolicyEngine } from "../core/policy/engine.ts";
import { modelConfigOf } from "./_model_config.ts";

/** One engine at a time; another model's shape replaces it. */
export function createEngineSource(): EngineSource {
  let current: { model: string; engine: Promise<PolicyEngine> } | null = null;
  return {
    engine: async (kit: RunKit) => {
      if (current?.model === kit.modelDigest) return await current.engine;
      const old = current;
      current = {
        model: kit.modelDigest,
        engine: createPolicyEngine({
          config: modelConfigOf(kit.config, kit.tokenizer),
          tokenizerJson: kit.environment.tokenizerJson,
          endOfText: kit.environment.endOfText,
          numThreads: kit.config.trainer.num_threads,
        }),
      };
      await old?.engine.then((engine) => engine.close());
      return await current.engine;
    },
  };
}
