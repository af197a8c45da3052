import type { RunConfig } from "../configs/run.ts";
import type { ModelConfig } from "../core/policy/model.ts";
import type { Tokenizer } from "../core/policy/tokenizer.ts";

/** Room for a question; prompts beyond it still work, positions are not learned. */
const MAX_PROMPT = 128;

/** The run's model as a Hugging Face `config.json`: the configured shape with the tokenizer's vocabulary. */
export function modelConfigOf(config: RunConfig, tokenizer: Tokenizer): ModelConfig {
  const { data, actor_rollout_ref: { model } } = config;
  return {
    ...model.config,
    vocab_size: tokenizer.vocabularySize,
    max_position_embeddings: MAX_PROMPT + data.max_response_length,
  };
}

/** The same with what `transformers` wants to know besides. */
export function huggingFaceConfig(
  config: ModelConfig,
  { endOfText }: Tokenizer,
): Record<string, unknown> {
  return {
    architectures: ["Qwen3ForCausalLM"],
    model_type: "qwen3",
    hidden_act: "silu",
    attention_bias: false,
    torch_dtype: "float32",
    eos_token_id: endOfText,
    pad_token_id: endOfText,
    ...config,
  };
}
