import { InvalidConfigError } from "../../core/errors.ts";
import {
  initialiseParameters,
  type ModelConfig,
  type PolicyEngine,
} from "../../core/policy/mod.ts";
import { createLearner } from "./_learner.ts";
import { createRuntime } from "./_runtime.ts";
import { createSampler } from "./_sampler.ts";
import { digestOf, stateOf, type Weights, weightsFrom } from "./_weights.ts";
import { createTokenizer } from "./tokenizer.ts";

/** What an engine is made for; plain data. */
export interface EngineOptions {
  readonly config: ModelConfig;
  readonly tokenizerJson: string;
  /** Text of the token that ends a turn. */
  readonly endOfText: string;
  /** Threads of one operation; part of what makes results equal bit by bit. */
  readonly numThreads: number;
}

/** What an engine does, without its end. */
export type EngineMethods = Omit<PolicyEngine, "close">;

/** An engine in this thread, which it blocks while it works; the caller sends one request at a time. */
export function createLocalEngine(options: EngineOptions): EngineMethods {
  const { config } = options;
  const tokenizer = createTokenizer(options.tokenizerJson, options.endOfText);
  if (tokenizer.vocabularySize > config.vocab_size) {
    throw new InvalidConfigError(
      `Cannot make a policy engine: vocab_size is ${config.vocab_size}, but the tokenizer has ${tokenizer.vocabularySize} tokens; raise vocab_size`,
    );
  }
  const runtime = createRuntime(options);
  const learner = createLearner(config, runtime);
  const sampler = createSampler(config, { runtime, tokenizer });
  let held: Weights | null = null;
  const weights = () => {
    if (held !== null) return held;
    throw new RangeError("Cannot use the policy: it has no weights; initialise or load it first");
  };
  const hold = (next: Weights) => digestOf(held = next);
  const learn: PolicyEngine["learn"] = async (rows, loss, optimizer) => {
    const { weights: next, metrics } = await learner.learn(weights(), rows, { loss, optimizer });
    held = next;
    return metrics;
  };

  return {
    initialise: async (seed) => {
      const named = [...initialiseParameters(config, seed)];
      const state = new Map(named.map(([name, tensor]) => [`actor/${name}`, tensor]));
      return await Promise.resolve(hold(weightsFrom(state, config)));
    },
    load: async (state) => await Promise.resolve(hold(weightsFrom(state, config))),
    state: async () => await Promise.resolve(stateOf(weights())),
    generate: (request) => sampler.generate(weights().actor, request),
    logProbs: (rows, which) => {
      const { actor, reference } = weights();
      if (which === "actor") return learner.logProbs(actor, rows);
      if (reference !== null) return learner.logProbs(reference, rows);
      throw new RangeError("Cannot read reference log-probs: no reference policy has been set");
    },
    setReference: async () => {
      held = await Promise.resolve({ ...weights(), reference: weights().actor });
    },
    learn,
    learnMany: async (batches, loss, onStep) => {
      const reports: Readonly<Record<string, number>>[] = [];
      for (const { rows, optimizer } of batches) {
        reports.push(await learn(rows, loss, optimizer));
        onStep?.(reports.length);
      }
      return reports;
    },
    digest: async () => await Promise.resolve(digestOf(weights())),
  };
}
