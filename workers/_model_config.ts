import type { RunConfig } from "../configs/run.ts";
import type { ModelConfig } from "../core/policy/model.ts";
import type { Tokenizer } from "../core/policy/tokenizer.ts";

/** The run's model as a Hugging Face `config.json`: the configured shape with the tokenizer's vocabulary. */
export function modelConfigOf(config: RunConfig, tokenizer: Tokenizer): ModelConfig {
  const { data, actor_rollout_ref: { model } } = config;
  return {
    ...model.config,
    vocab_size: tokenizer.vocabularySize,
    max_position_embeddings: data.max_prompt_length + data.max_response_length,
  };
}
