import assert from "node:assert/strict";
import {
  buildLogProbGraph,
  buildPrefillGraph,
  buildStepGraph,
  initialiseParameters,
  type ModelConfig,
} from "../../../core/policy/mod.ts";
import { type Fed, runGraph } from "../../_support/onnx.ts";

const CONFIG: ModelConfig = {
  vocab_size: 19,
  hidden_size: 24,
  intermediate_size: 40,
  num_hidden_layers: 2,
  num_attention_heads: 4,
  num_key_value_heads: 2,
  head_dim: 8,
  rms_norm_eps: 1e-6,
  rope_theta: 10_000,
  tie_word_embeddings: false,
  max_position_embeddings: 32,
  initializer_range: 0.4,
};
const ROWS = [
  [3, 1, 4, 1, 5, 9, 2, 6],
  [2, 7, 18, 2, 8, 1],
];
const PREFIXES = [4, 2];
const PREFIX = 5;
const LENGTH = 12;

function weights(): Record<string, Fed> {
  return Object.fromEntries(initialiseParameters(CONFIG, 3));
}

function ids(rows: readonly (readonly number[])[], length: number): Fed {
  const data = rows.flatMap((row) => Array.from({ length }, (_, i) => row[i] ?? 0));
  return { data, shape: [rows.length, length], dtype: "int64" };
}

const vector = (data: readonly number[], dtype: "int64" | "float32"): Fed => ({
  data,
  shape: [data.length],
  dtype,
});

/** Keys or values copied from a graph's output to places of a cache. */
function copyPlaces(
  source: Float32Array,
  places: number,
  { cache, row, at, count }: { cache: Float32Array; row: number; at: number; count: number },
) {
  for (let group = 0; group < CONFIG.num_key_value_heads; group++) {
    const block = row * CONFIG.num_key_value_heads + group;
    const h = CONFIG.head_dim;
    const from = block * places * h;
    cache.set(source.subarray(from, from + count * h), (block * LENGTH + at) * h);
  }
}

Deno.test("prefill and steps give the log-probs of a pass over whole rows", async () => {
  const full = await runGraph(buildLogProbGraph(CONFIG, { rows: 2, length: 8 }), {
    ...weights(),
    token_ids: ids(ROWS, 8),
  });
  const whole = (row: number, t: number) => full["log_probs"]![row * 7 + t - 1]!;
  const near = (found: Float32Array, row: number, t: number) => {
    const logProb = found[row * CONFIG.vocab_size + ROWS[row]![t]!]!;
    assert.ok(Math.abs(logProb - whole(row, t)) < 1e-5, `row ${row}, token ${t}: ${logProb}`);
  };

  const prompts = ROWS.map((row, i) => row.slice(0, PREFIXES[i]));
  const prefill = await runGraph(buildPrefillGraph(CONFIG, { rows: 2, length: PREFIX }), {
    ...weights(),
    token_ids: ids(prompts, PREFIX),
    last: vector(PREFIXES.map((n, i) => i * PREFIX + n - 1), "int64"),
    inv_temperature: vector([0.5], "float32"),
  });
  ROWS.forEach((_, row) => near(prefill["log_probs"]!, row, PREFIXES[row]!));
  assert.deepEqual(tempered(prefill["log_probs"]!, 0.5), rounded(prefill["probabilities"]!));

  const caches = new Map<string, Float32Array>();
  const shape = [2, CONFIG.num_key_value_heads, LENGTH, CONFIG.head_dim];
  for (const name of ["key/0", "value/0", "key/1", "value/1"]) {
    const cache = new Float32Array(shape.reduce((a, b) => a * b)).fill(1e3); // never to be read
    caches.set(name, cache);
    PREFIXES.forEach((count, row) =>
      copyPlaces(prefill[name]!, PREFIX, { cache, row, at: 0, count })
    );
  }
  const graph = buildStepGraph(CONFIG, { rows: 2, length: LENGTH });
  for (let step = 0; step < 3; step++) {
    const positions = PREFIXES.map((n) => n + step);
    const cached = [...caches].map(([name, data]) => [`cached_${name}`, { data, shape }]);
    const outputs = await runGraph(graph, {
      ...weights(),
      ...Object.fromEntries(cached),
      token_ids: ids(ROWS.map((row, i) => [row[positions[i]!]!]), 1),
      positions: vector(positions, "int64"),
      inv_temperature: vector([1], "float32"),
    });
    ROWS.forEach((_, row) => near(outputs["log_probs"]!, row, positions[row]! + 1));
    for (const [name, cache] of caches) {
      positions.forEach((at, row) => copyPlaces(outputs[name]!, 1, { cache, row, at, count: 1 }));
    }
  }
});

const rounded = (numbers: Float32Array) => Array.from(numbers, (x) => x.toFixed(5));

/** softmax(logProbs · scale) of each row. */
function tempered(logProbs: Float32Array, scale: number): string[] {
  const rows = Array.from({ length: 2 }, (_, row) => {
    const from = row * CONFIG.vocab_size;
    const shares = Array.from(
      logProbs.subarray(from, from + CONFIG.vocab_size),
      (x) => Math.exp(x * scale),
    );
    const total = shares.reduce((a, b) => a + b);
    return shares.map((share) => share / total);
  });
  return rounded(Float32Array.from(rows.flat()));
}
