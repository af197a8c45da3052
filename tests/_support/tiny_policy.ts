import { createPolicyEngine } from "../../adapters/policy/engine.ts";
import type { LearnRow, LossSpec, OptimizerStep, PolicyEngine } from "../../core/policy/engine.ts";
import type { ModelConfig } from "../../core/policy/mod.ts";

/** Id 0 ends a text; then one token for each of these characters. */
export const CHARACTERS = [..."abcdefghijklmnopqrstuvwxyz<>/"];

/** A `tokenizer.json` of single characters. */
export const TOKENIZER_JSON = JSON.stringify({
  version: "1.0",
  truncation: null,
  padding: null,
  added_tokens: [{
    id: 0,
    content: "<|end|>",
    single_word: false,
    lstrip: false,
    rstrip: false,
    normalized: false,
    special: true,
  }],
  normalizer: null,
  pre_tokenizer: {
    type: "ByteLevel",
    add_prefix_space: false,
    trim_offsets: true,
    use_regex: true,
  },
  post_processor: null,
  decoder: { type: "ByteLevel", add_prefix_space: false, trim_offsets: true, use_regex: true },
  model: {
    type: "BPE",
    vocab: Object.fromEntries(CHARACTERS.map((character, i) => [character, i + 1])),
    merges: [],
  },
});

export const TINY: ModelConfig = {
  vocab_size: CHARACTERS.length + 1,
  hidden_size: 32,
  intermediate_size: 64,
  num_hidden_layers: 2,
  num_attention_heads: 4,
  num_key_value_heads: 2,
  head_dim: 8,
  rms_norm_eps: 1e-6,
  rope_theta: 10_000,
  tie_word_embeddings: true,
  max_position_embeddings: 64,
  initializer_range: 0.1,
};

export const OPTIMIZER: OptimizerStep = {
  lr: 0.01,
  beta1: 0.9,
  beta2: 0.999,
  eps: 1e-8,
  weightDecay: 0.01,
  gradClip: 1,
};

export const SFT: LossSpec = {
  type: "sft",
  clipRatioLow: 0.2,
  clipRatioHigh: 0.28,
  entropyCoeff: 0,
  klLossCoef: 0,
};

/** Token ids of a text of CHARACTERS. */
export function idsOf(text: string): number[] {
  return [...text].map((character) => CHARACTERS.indexOf(character) + 1);
}

/** A row that learns the response and the end of text after it. */
export function demonstration(prompt: string, response: string): LearnRow {
  const tokenIds = [...idsOf(prompt), ...idsOf(response), 0];
  return {
    tokenIds,
    responseMask: tokenIds.map((_, t) => t < prompt.length ? 0 : 1),
    arrays: {},
  };
}

/** A real engine on one thread, closed at the end of the scope. */
export async function tinyEngine(): Promise<PolicyEngine & AsyncDisposable> {
  const engine = await createPolicyEngine({
    config: TINY,
    tokenizerJson: TOKENIZER_JSON,
    endOfText: "<|end|>",
    numThreads: 1,
  });
  return { ...engine, [Symbol.asyncDispose]: engine.close };
}
