import type { RunConfig } from "./run.ts";

/** The first pair of settings that cannot both hold, as a sentence with its remedy; null when there is none. */
export function findContradiction(config: RunConfig): string | null {
  return CHECKS.map((check) => check(config)).find((sentence) => sentence !== null) ?? null;
}

const CHECKS: readonly ((config: RunConfig) => string | null)[] = [
  function groups({ algorithm, actor_rollout_ref: { rollout } }) {
    return algorithm.adv_estimator !== "grpo" || rollout.n >= 2
      ? null
      : `Cannot compare rollouts: actor_rollout_ref.rollout.n is ${rollout.n} with algorithm.adv_estimator "grpo"; ` +
        `set it to 2 or more`;
  },
  function miniBatches({ data, actor_rollout_ref: { actor } }) {
    return data.train_batch_size % actor.ppo_mini_batch_size === 0
      ? null
      : `Cannot cut a step into mini-batches: data.train_batch_size is ${data.train_batch_size}, ` +
        `actor_rollout_ref.actor.ppo_mini_batch_size is ${actor.ppo_mini_batch_size}; ` +
        `set the second to a divisor of the first`;
  },
  function heads({ actor_rollout_ref: { model: { config } } }) {
    return config.num_attention_heads % config.num_key_value_heads === 0
      ? null
      : `Cannot share key-value heads: actor_rollout_ref.model.config.num_key_value_heads is ` +
        `${config.num_key_value_heads} for ${config.num_attention_heads} attention heads; set it to a divisor`;
  },
  function rotaryPairs({ actor_rollout_ref: { model: { config } } }) {
    return config.head_dim % 2 === 0
      ? null
      : `Cannot turn pairs: actor_rollout_ref.model.config.head_dim is ${config.head_dim}; set it to an even number`;
  },
  function context({ data, actor_rollout_ref: { rollout } }) {
    const { max_new_tokens, max_tool_response_length, multi_turn } = rollout;
    const least = multi_turn.max_assistant_turns === 1
      ? max_new_tokens
      : 2 * max_new_tokens + max_tool_response_length;
    return data.max_response_length >= least
      ? null
      : `Cannot fit ${
        multi_turn.max_assistant_turns === 1 ? "a turn" : "a call, its reply and an answer"
      }: data.max_response_length is ${data.max_response_length}, ` +
        `actor_rollout_ref.rollout.max_new_tokens is ${max_new_tokens} and ` +
        `actor_rollout_ref.rollout.max_tool_response_length is ${max_tool_response_length}; ` +
        `set the first to ${least} or more`;
  },
  function kl({ actor_rollout_ref: { actor } }) {
    return !actor.use_kl_loss || actor.kl_loss_coef > 0
      ? null
      : `Cannot use a KL loss: actor_rollout_ref.actor.kl_loss_coef is 0; ` +
        `set it above 0, or actor_rollout_ref.actor.use_kl_loss to false`;
  },
  function demonstrations({ warm_start }) {
    return warm_start.steps === 0 || warm_start.demonstrations >= warm_start.batch_size
      ? null
      : `Cannot warm-start: warm_start.demonstrations is ${warm_start.demonstrations}, fewer than a batch of ` +
        `${warm_start.batch_size} (warm_start.batch_size); set more, or warm_start.steps to 0`;
  },
  function pool({ pool }) {
    if (pool.mode === "replay" && pool.replay === null) {
      return `Cannot replay answers: pool.replay is null with pool.mode "replay"; name a recorded pool, ` +
        `such as pool.replay=pools/replay_nq.json`;
    }
    return pool.mode === "world" && pool.replay !== null
      ? `Cannot use a recorded pool: pool.replay is "${pool.replay}" with pool.mode "world"; ` +
        `set pool.mode to "replay"`
      : null;
  },
];
