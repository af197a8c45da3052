import { GraphBuilder, type Value } from "../graph/mod.ts";
import {
  buildHidden,
  buildLogits,
  causalAttend,
  declareParameters,
  type ModelConfig,
  ropeTables,
} from "./model.ts";
import type { BatchShape } from "./train_graph.ts";

/** Added to the score of a cached position that is not there; its weight becomes exactly 0. */
const ABSENT = -1e9;

/**
 * Reads right-padded prompts. Inputs: parameters by name, `token_ids` [rows, length], `last` [rows] (index
 * of each row's last token in the flattened batch), `inv_temperature` [1]. Outputs: `log_probs` and
 * `probabilities` [rows, vocabulary] of the token after that one, the latter under the temperature, and by
 * layer `key/{n}`, `value/{n}` [rows, kv heads, length, head_dim], to be cached up to that token.
 */
export function buildPrefillGraph(config: ModelConfig, { rows, length }: BatchShape): Uint8Array {
  const g = new GraphBuilder("prefill");
  const parameters = declareParameters(g, config);
  const tokenIds = g.input("token_ids", [rows, length], "int64");
  const last = g.input("last", [rows], "int64");
  const tables = ropeTables(config, length);
  const table = (data: Float32Array) => g.constant(data, [length, config.head_dim]);
  const within = causalAttend(g, config, length);
  const hidden = buildHidden(g, config, parameters, {
    tokenIds,
    cos: table(tables.cos),
    sin: table(tables.sin),
    attend: (layer, q, k, v) => {
      g.output(k, `key/${layer}`);
      g.output(v, `value/${layer}`);
      return within(layer, q, k, v);
    },
  });
  outputDistribution(g, buildLogits(g, config, parameters, g.gather(hidden, last)));
  return g.build();
}

/**
 * Reads one more token of every row, given a cache of `length` places. Inputs: parameters by name,
 * `token_ids` [rows, 1], `positions` [rows] (how many places of the row's cache are filled), `cached_key/{n}`
 * and `cached_value/{n}` [rows, kv heads, length, head_dim], `inv_temperature` [1]. Outputs: `log_probs` and
 * `probabilities` as of the prefill, and by layer the token's own `key/{n}` and `value/{n}` [rows, kv heads,
 * 1, head_dim], for the caller to cache.
 */
export function buildStepGraph(config: ModelConfig, { rows, length }: BatchShape): Uint8Array {
  const { num_key_value_heads: groups, head_dim: h } = config;
  const g = new GraphBuilder("step");
  const parameters = declareParameters(g, config);
  const tokenIds = g.input("token_ids", [rows, 1], "int64");
  const positions = g.input("positions", [rows], "int64");
  const tables = ropeTables(config, length);
  const at = (data: Float32Array) =>
    g.reshape(g.gather(g.constant(data, [length, h]), positions), [rows, 1, 1, h]);
  const places = g.constant(Array.from({ length }, (_, i) => i), [length], "int64");
  const filled = g.less(places, g.reshape(positions, [rows, 1]));
  const bias = g.where(filled, g.scalar(0), g.scalar(ABSENT));
  const ownBias = g.expand(g.scalar(0), [rows, 1]);
  const allBias = g.reshape(g.concat([bias, ownBias], 1), [rows, 1, 1, length + 1]);
  const hidden = buildHidden(g, config, parameters, {
    tokenIds,
    cos: at(tables.cos),
    sin: at(tables.sin),
    attend: (layer, q, k, v) => {
      g.output(k, `key/${layer}`);
      g.output(v, `value/${layer}`);
      return cachedAttention(g, { q, k, v, bias: allBias }, {
        keys: g.input(`cached_key/${layer}`, [rows, groups, length, h]),
        values: g.input(`cached_value/${layer}`, [rows, groups, length, h]),
      });
    },
  });
  outputDistribution(g, buildLogits(g, config, parameters, hidden));
  return g.build();
}

/** The log-probs are the learner's own arithmetic. */
function outputDistribution(g: GraphBuilder, logits: Value): void {
  g.output(g.logSoftmax(logits, 1), "log_probs");
  g.output(g.softmax(g.mul(logits, g.input("inv_temperature", [1])), 1), "probabilities");
}

/** Attention of one token to the cache and to itself, without a copy of the cache. */
function cachedAttention(
  g: GraphBuilder,
  { q, k, v, bias }: { q: Value; k: Value; v: Value; bias: Value },
  { keys, values }: { keys: Value; values: Value },
): Value {
  const [rows, heads, , h] = q.shape as [number, number, number, number];
  const [, groups, length] = keys.shape as [number, number, number];
  const folded = g.reshape(q, [rows, groups, heads / groups, h]);
  const meet = (other: Value) => g.matmul(folded, g.transpose(other, [0, 1, 3, 2]));
  const scores = g.mul(g.concat([meet(keys), meet(k)], 3), g.scalar(h ** -0.5));
  const weights = g.softmax(g.add(scores, bias), 3);
  const past = g.matmul(g.slice(weights, 3, 0, length), values);
  const own = g.mul(g.slice(weights, 3, length, length + 1), v);
  return g.reshape(g.add(past, own), q.shape);
}
