import type { GraphBuilder, Value } from "../graph/mod.ts";
import { createRandom, hashText } from "../random.ts";
import type { Tensor } from "../storage/mod.ts";

/** A decoder-only transformer of the Qwen3 shape, by the keys of its Hugging Face `config.json`. */
export interface ModelConfig {
  readonly vocab_size: number;
  readonly hidden_size: number;
  readonly intermediate_size: number;
  readonly num_hidden_layers: number;
  readonly num_attention_heads: number;
  readonly num_key_value_heads: number;
  readonly head_dim: number;
  readonly rms_norm_eps: number;
  readonly rope_theta: number;
  readonly tie_word_embeddings: boolean;
  readonly max_position_embeddings: number;
  /** Deviation of the initial weights. */
  readonly initializer_range: number;
}

const EMBED = "model.embed_tokens.weight";
const NORM = "model.norm.weight";
const HEAD = "lm_head.weight";

/** Every parameter by its Hugging Face name; matrices are [out, in]. */
export function parameterShapes(config: ModelConfig): ReadonlyMap<string, readonly number[]> {
  const { hidden_size: d, intermediate_size: f, head_dim: h } = config;
  const q = config.num_attention_heads * h;
  const kv = config.num_key_value_heads * h;
  const shapes = new Map<string, readonly number[]>([[EMBED, [config.vocab_size, d]]]);
  for (let layer = 0; layer < config.num_hidden_layers; layer++) {
    const at = (name: string, shape: readonly number[]) =>
      shapes.set(`model.layers.${layer}.${name}.weight`, shape);
    at("input_layernorm", [d]);
    at("self_attn.q_proj", [q, d]);
    at("self_attn.k_proj", [kv, d]);
    at("self_attn.v_proj", [kv, d]);
    at("self_attn.o_proj", [d, q]);
    at("self_attn.q_norm", [h]);
    at("self_attn.k_norm", [h]);
    at("post_attention_layernorm", [d]);
    at("mlp.gate_proj", [f, d]);
    at("mlp.up_proj", [f, d]);
    at("mlp.down_proj", [d, f]);
  }
  shapes.set(NORM, [d]);
  if (!config.tie_word_embeddings) shapes.set(HEAD, [config.vocab_size, d]);
  return shapes;
}

/** Seeded initial weights: norms 1, matrices normal with deviation `initializer_range`. */
export function initialiseParameters(config: ModelConfig, seed: number): Map<string, Tensor> {
  const tensors = new Map<string, Tensor>();
  for (const [name, shape] of parameterShapes(config)) {
    const random = createRandom(seed, hashText(name));
    const size = shape.reduce((product, n) => product * n, 1);
    const data = Float32Array.from(
      { length: size },
      () => shape.length === 1 ? 1 : random.normal() * config.initializer_range,
    );
    tensors.set(name, { shape, data });
  }
  return tensors;
}

/** Declares every parameter as an input of the graph. */
export function declareParameters(g: GraphBuilder, config: ModelConfig): Map<string, Value> {
  return new Map(
    [...parameterShapes(config)].map(([name, shape]) => [name, g.input(name, shape)]),
  );
}

/** A graph's parameter inputs by their Hugging Face names. */
export type Parameters = ReadonlyMap<string, Value>;

/** x / √(mean x² + eps) · w over the last axis (Zhang and Sennrich, 2019). */
function rmsNorm(g: GraphBuilder, x: Value, weight: Value, eps: number): Value {
  const square = g.reduceMean(g.mul(x, x), [x.shape.length - 1], true);
  return g.mul(g.div(x, g.sqrt(g.add(square, g.scalar(eps)))), weight);
}

/** x·Wᵀ for a Hugging Face [out, in] matrix. */
function linear(g: GraphBuilder, x: Value, weight: Value): Value {
  return g.matmul(x, g.transpose(weight, [1, 0]));
}

/** down(silu(gate(x)) · up(x)). */
function swiGlu(g: GraphBuilder, x: Value, parameters: Parameters, layer: string): Value {
  const gate = linear(g, x, parameters.get(`${layer}.mlp.gate_proj.weight`)!);
  const up = linear(g, x, parameters.get(`${layer}.mlp.up_proj.weight`)!);
  const silu = g.mul(gate, g.sigmoid(gate));
  return linear(g, g.mul(silu, up), parameters.get(`${layer}.mlp.down_proj.weight`)!);
}

/** Cosines and sines [positions, head_dim] of rotary embedding in Hugging Face's half-rotated layout. */
export function ropeTables(
  config: ModelConfig,
  positions: number,
): { cos: Float32Array; sin: Float32Array } {
  const { head_dim: h, rope_theta: theta } = config;
  const angle = (i: number) => Math.floor(i / h) * theta ** (-2 * ((i % h) % (h / 2)) / h);
  const fill = (f: (x: number) => number) =>
    Float32Array.from({ length: positions * h }, (_, i) => f(angle(i)));
  return { cos: fill(Math.cos), sin: fill(Math.sin) };
}

/** x·cos + rotate(x)·sin, where rotate([a, b]) = [−b, a]. */
function applyRope(g: GraphBuilder, x: Value, cos: Value, sin: Value): Value {
  const last = x.shape.length - 1;
  const half = x.shape[last]! / 2;
  const a = g.slice(x, last, 0, half);
  const b = g.slice(x, last, half, 2 * half);
  return g.add(g.mul(x, cos), g.mul(g.concat([g.neg(b), a], last), sin));
}

/**
 * How queries meet keys: gives [rows, heads, length, head_dim] for queries of that shape and keys and
 * values [rows, kv heads, length, head_dim]. Training attends within the rows; decoding keeps a cache.
 */
export type Attend = (layer: number, q: Value, k: Value, v: Value) => Value;

/** Hidden states after the last norm, [rows·length, hidden], of token ids [rows, length]. */
export function buildHidden(
  g: GraphBuilder,
  config: ModelConfig,
  parameters: Parameters,
  { tokenIds, cos, sin, attend }: {
    readonly tokenIds: Value;
    /** Broadcast to [rows, heads, length, head_dim]. */
    readonly cos: Value;
    readonly sin: Value;
    readonly attend: Attend;
  },
): Value {
  const [rows, length] = tokenIds.shape as [number, number];
  const { hidden_size: d, head_dim: h, rms_norm_eps: eps } = config;
  let x = g.reshape(g.gather(parameters.get(EMBED)!, tokenIds), [rows * length, d]);
  for (let layer = 0; layer < config.num_hidden_layers; layer++) {
    const at = `model.layers.${layer}`;
    const weight = (name: string) => parameters.get(`${at}.${name}.weight`)!;
    const normed = rmsNorm(g, x, weight("input_layernorm"), eps);
    const heads = (name: string, n: number) =>
      g.reshape(linear(g, normed, weight(`self_attn.${name}_proj`)), [rows, length, n, h]);
    const placed = (name: "q" | "k", n: number) => {
      const scaled = rmsNorm(g, heads(name, n), weight(`self_attn.${name}_norm`), eps);
      return applyRope(g, g.transpose(scaled, [0, 2, 1, 3]), cos, sin);
    };
    const q = placed("q", config.num_attention_heads);
    const k = placed("k", config.num_key_value_heads);
    const v = g.transpose(heads("v", config.num_key_value_heads), [0, 2, 1, 3]);
    const mixed = g.transpose(attend(layer, q, k, v), [0, 2, 1, 3]);
    const joined = g.reshape(mixed, [rows * length, config.num_attention_heads * h]);
    x = g.add(x, linear(g, joined, weight("self_attn.o_proj")));
    const second = rmsNorm(g, x, weight("post_attention_layernorm"), eps);
    x = g.add(x, swiGlu(g, second, parameters, at));
  }
  return rmsNorm(g, x, parameters.get(NORM)!, eps);
}

/** Logits [n, vocabulary] of hidden states [n, hidden]. */
export function buildLogits(
  g: GraphBuilder,
  config: ModelConfig,
  parameters: Parameters,
  hidden: Value,
): Value {
  return linear(g, hidden, parameters.get(config.tie_word_embeddings ? EMBED : HEAD)!);
}

/**
 * softmax(q·kᵀ/√h + bias)·v with grouped queries: the queries of one key head are folded into its length,
 * so keys and values are never repeated. `bias` broadcasts to [rows, kv heads, group·length, keys].
 */
function groupedAttention(
  g: GraphBuilder,
  q: Value,
  k: Value,
  v: Value,
  bias: Value,
): Value {
  const [rows, heads, length, h] = q.shape as [number, number, number, number];
  const groups = k.shape[1]!;
  const folded = g.reshape(q, [rows, groups, heads / groups * length, h]);
  const scores = g.mul(g.matmul(folded, g.transpose(k, [0, 1, 3, 2])), g.scalar(h ** -0.5));
  const weights = g.softmax(g.add(scores, bias), 3);
  return g.reshape(g.matmul(weights, v), q.shape);
}

/** Attention of every token to itself and those before it in its row. */
export function causalAttend(g: GraphBuilder, config: ModelConfig, length: number): Attend {
  const group = config.num_attention_heads / config.num_key_value_heads;
  const bias = Float32Array.from(
    { length: group * length * length },
    (_, i) => i % length <= Math.floor(i / length) % length ? 0 : -1e9,
  );
  const shared = g.constant(bias, [group * length, length]);
  return (_layer, q, k, v) => groupedAttention(g, q, k, v, shared);
}
