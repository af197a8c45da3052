import { z } from "zod";

/** Shape of the policy: a decoder-only transformer under the names of a Hugging Face `config.json`. */
const ModelConfig = z.strictObject({
  config: z.strictObject({
    /** Width of the residual stream. */
    hidden_size: z.int().min(1).default(64),
    /** Width of the gated MLP. */
    intermediate_size: z.int().min(1).default(192),
    num_hidden_layers: z.int().min(1).default(3),
    num_attention_heads: z.int().min(1).default(4),
    /** Divides `num_attention_heads`. */
    num_key_value_heads: z.int().min(1).default(2),
    /** Width of one head; even, for rotary positions turn pairs. */
    head_dim: z.int().min(2).default(16),
    /** Base of the rotary frequencies. */
    rope_theta: z.number().positive().default(10_000),
    /** Added to the mean square under the root of every RMSNorm. */
    rms_norm_eps: z.number().positive().default(1e-6),
    /** Standard deviation of the seeded initial weights. */
    initializer_range: z.number().positive().default(0.02),
    /** Whether the output head is the token embedding. */
    tie_word_embeddings: z.boolean().default(true),
  }).prefault({}),
});

/** AdamW. */
const OptimConfig = z.strictObject({
  /** Peak learning rate, constant after the warm-up. */
  lr: z.number().min(0).default(7e-4),
  /** Steps of the linear rise to `lr`; 0 starts there. */
  lr_warmup_steps: z.int().min(0).default(5),
  /** Decoupled weight decay. */
  weight_decay: z.number().min(0).default(0),
  /** Decay of the first and second moments, each in [0, 1). */
  betas: z.tuple([z.number().min(0).lt(1), z.number().min(0).lt(1)]).default([0.9, 0.999]),
  /** Added to the root of the second moment. */
  eps: z.number().positive().default(1e-8),
});

const ActorConfig = z.strictObject({
  optim: OptimConfig.prefault({}),
  /** Passes over a step's rollouts. */
  ppo_epochs: z.int().min(1).default(1),
  /** Problems (with all their rollouts) of one optimizer step; divides `data.train_batch_size`. */
  ppo_mini_batch_size: z.int().min(1).default(32),
  /** The probability ratio is clipped to [1 − low, 1 + high]; low is in [0, 1]. */
  clip_ratio_low: z.number().min(0).max(1).default(0.2),
  clip_ratio_high: z.number().min(0).default(0.28),
  /** How token losses become one number: their mean over all sampled tokens of an optimizer step. */
  loss_agg_mode: z.literal("token-mean").default("token-mean"),
  /** Weight of the entropy bonus. */
  entropy_coeff: z.number().min(0).default(0.02),
  /** Pull the policy towards the warm start. */
  use_kl_loss: z.boolean().default(false),
  /** Weight of that pull; above 0 where `use_kl_loss` is set. */
  kl_loss_coef: z.number().min(0).default(0.001),
  /** Its estimator: Schulman's k3. */
  kl_loss_type: z.literal("low_var_kl").default("low_var_kl"),
  /** The global gradient norm is clipped to this. */
  grad_clip: z.number().positive().default(1),
});

const RolloutConfig = z.strictObject({
  /** Rollouts of one problem, compared with each other; at least 2 for `grpo`. */
  n: z.int().min(1).default(8),
  /** Sampling temperature in training, above 0; evaluations are greedy. */
  temperature: z.number().positive().max(10).default(1),
  /** Turn grammar. */
  protocol: z.literal("holdfast").default("holdfast"),
  /** Tokens of one turn; a turn that reaches them is a mistake. */
  max_new_tokens: z.int().min(1).default(32),
  multi_turn: z.strictObject({
    /** Turns of the policy, the answer's included. */
    max_assistant_turns: z.int().min(1).default(4),
  }).prefault({}),
  /** Tokens of one observation, its tags included; longer replies are cut inside the tags. */
  max_tool_response_length: z.int().min(3).default(24),
  /** Rollouts played together as one piece of durable work. */
  trajectories_per_shard: z.int().min(1).default(64),
});

/** The policy: its shape, how it learns, how it plays. */
export const ActorRolloutRefConfig = z.strictObject({
  model: ModelConfig.prefault({}),
  actor: ActorConfig.prefault({}),
  rollout: RolloutConfig.prefault({}),
});
export type ActorRolloutRefConfig = z.infer<typeof ActorRolloutRefConfig>;
