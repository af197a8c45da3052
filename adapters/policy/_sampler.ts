import {
  type BatchShape,
  buildPrefillGraph,
  buildStepGraph,
  type GeneratedTurn,
  type GenerateRequest,
  likeliestToken,
  type ModelConfig,
  sampleToken,
  type TokenDistribution,
  type Tokenizer,
} from "../../core/policy/mod.ts";
import { uniformAt } from "../../core/random.ts";
import { KvCache } from "./_kv_cache.ts";
import { checkTokens, packTokens, roundUp } from "./_micro_batches.ts";
import { dataOf, floats, integers, type Runtime, type Values } from "./_runtime.ts";

/** Lengths of prompts and of caches are rounded up to these, so that few graphs serve all rows. */
const PROMPT_STEP = 16;
const CACHE_STEP = 32;
/** Tokens read at once from prompts, padding included. */
const PREFILL_TOKENS = 2048;
/** Rows sampled together at most, and bytes of their caches. */
const MOST_ROWS = 256;
const MOST_CACHE_BYTES = 512 * 1024 * 1024;
/** Batches are padded to this: fewer rows cost as much. */
const FEWEST_ROWS = 8;

/** Samples from weights; keeps no state but compiled graphs and texts of tokens. */
export interface Sampler {
  /**
   * A row's tokens and log-probs depend on the weights, its own prompt and seeds, and the request's
   * limits; not on the other rows: the lengths of its graphs follow from the length of its prompt.
   */
  generate(parameters: Values, request: GenerateRequest): Promise<GeneratedTurn[]>;
}

/** A row that is being written. */
interface LiveRow {
  readonly index: number;
  /** Places of its cache that are filled. */
  filled: number;
  next: TokenDistribution;
  readonly tokenIds: number[];
  readonly logProbs: number[];
  /** End of the new text, as long as the longest stop string. */
  tail: string;
}

/** A sampler of one model's shape. */
export function createSampler(
  config: ModelConfig,
  { runtime, tokenizer }: { readonly runtime: Runtime; readonly tokenizer: Tokenizer },
): Sampler {
  const texts = new Map<number, string>();
  const textOf = (token: number) => {
    const text = texts.get(token) ?? tokenizer.decode([token]);
    texts.set(token, text);
    return text;
  };

  /** Reads prompts: fills the caches of their rows, gives what comes next. */
  const prefill = async (
    common: Values,
    { prompts, cache }: {
      readonly prompts: readonly (readonly number[])[];
      readonly cache: KvCache;
    },
  ): Promise<TokenDistribution[]> => {
    const next: TokenDistribution[] = [];
    const byLength = groupBy(
      [...prompts.keys()],
      (row) => roundUp(prompts[row]!.length, PROMPT_STEP),
    );
    for (const [length, rowsOfLength] of byLength) {
      // rollouts of one problem begin alike: a prompt is read once
      const alike = [...groupBy(rowsOfLength, (row) => prompts[row]!.join()).values()];
      const most = 2 ** Math.floor(Math.log2(Math.max(FEWEST_ROWS, PREFILL_TOKENS / length)));
      for (let from = 0; from < alike.length; from += most) {
        const batch = alike.slice(from, from + most);
        const shape = { rows: rowsFor(batch.length), length };
        const read = batch.map((rows) => prompts[rows[0]!]!);
        const last = new Int32Array(shape.rows);
        read.forEach((prompt, i) => last[i] = i * length + prompt.length - 1);
        const outputs = await runtime.run(
          `prefill/${shape.rows}x${shape.length}`,
          () => buildPrefillGraph(config, shape),
          { ...common, ...packTokens(read, shape), last: integers(last, [shape.rows]) },
        );
        batch.forEach((rows, i) => {
          for (const row of rows) {
            next[row] = nextOf(outputs, i);
            const count = read[i]!.length;
            cache.write(outputs, { from: i, places: length, count }, { row, at: 0 });
          }
        });
      }
    }
    return next;
  };

  const nextOf = (outputs: Values, row: number): TokenDistribution => {
    const rowOf = (name: string) =>
      dataOf(outputs, name).subarray(row * config.vocab_size, (row + 1) * config.vocab_size);
    return { logProbs: rowOf("log_probs"), probabilities: rowOf("probabilities") };
  };

  /** Reads every live row's newest token: extends their caches, renews what comes next. */
  const step = async (
    common: Values,
    { live, cache, length }: {
      readonly live: readonly LiveRow[];
      readonly cache: KvCache;
      readonly length: number;
    },
  ): Promise<void> => {
    const shape: BatchShape = { rows: rowsFor(live.length), length };
    const positions = new Int32Array(shape.rows);
    live.forEach((row, i) => positions[i] = row.filled);
    const outputs = await runtime.run(
      `step/${shape.rows}x${shape.length}`,
      () => buildStepGraph(config, shape),
      {
        ...common,
        ...cache.feeds(shape.rows),
        ...packTokens(live.map((row) => [row.tokenIds.at(-1)!]), { rows: shape.rows, length: 1 }),
        positions: integers(positions, [shape.rows]),
      },
    );
    live.forEach((row, i) => {
      cache.write(outputs, { from: i, places: 1, count: 1 }, { row: i, at: row.filled });
      row.filled++;
      row.next = nextOf(outputs, i);
    });
  };

  /** Adds one sampled token to a row; how the row ended, or null while it goes on. */
  const extend = (row: LiveRow, request: GenerateRequest): GeneratedTurn["finish"] | null => {
    const { token, logProb } = request.temperature === 0
      ? likeliestToken(row.next.logProbs)
      : sampleToken(row.next, uniformAt(...request.seeds[row.index]!, row.tokenIds.length));
    row.tokenIds.push(token);
    row.logProbs.push(logProb);
    if (token === tokenizer.endOfText) return "stop";
    const longest = request.stopStrings.reduce((most, stop) => Math.max(most, stop.length), 0);
    row.tail = longest === 0 ? "" : (row.tail + textOf(token)).slice(-longest);
    if (request.stopStrings.some((stop) => row.tail.endsWith(stop))) return "stop";
    return row.tokenIds.length === request.maxNewTokens ? "length" : null;
  };

  /** Plays rows whose caches have one length to their ends. */
  const play = async (
    common: Values,
    request: GenerateRequest,
    { indices, length }: { readonly indices: readonly number[]; readonly length: number },
  ): Promise<[number, GeneratedTurn][]> => {
    const cache = new KvCache(config, { rows: rowsFor(indices.length), length });
    const prompts = indices.map((index) => request.prompts[index]!);
    const next = await prefill(common, { prompts, cache });
    const live = indices.map((index, i): LiveRow => ({
      index,
      filled: prompts[i]!.length,
      next: next[i]!,
      tokenIds: [],
      logProbs: [],
      tail: "",
    }));
    const done: [number, GeneratedTurn][] = [];
    while (true) {
      // backwards: the last row, which has had its token, takes the place of one that ended
      for (let i = live.length - 1; i >= 0; i--) {
        const row = live[i]!;
        const finish = extend(row, request);
        if (finish === null) continue;
        done.push([row.index, { tokenIds: row.tokenIds, logProbs: row.logProbs, finish }]);
        const last = live.pop()!;
        if (last === row) continue;
        cache.move(live.length, i);
        live[i] = last;
      }
      if (live.length === 0) return done;
      await step(common, { live, cache, length });
    }
  };

  return {
    generate: async (parameters, request) => {
      checkRequest(request, config.vocab_size);
      const common = { ...parameters, inv_temperature: inverseOf(request.temperature) };
      const turns: GeneratedTurn[] = [];
      const byLength = groupBy(
        [...request.prompts.keys()],
        (row) => roundUp(request.prompts[row]!.length + request.maxNewTokens, CACHE_STEP),
      );
      for (const [length, rows] of byLength) {
        const fitting = Math.floor(MOST_CACHE_BYTES / KvCache.bytesPerRow(config, length));
        const most = Math.max(FEWEST_ROWS, Math.min(MOST_ROWS, fitting));
        for (let from = 0; from < rows.length; from += most) {
          const part = { indices: rows.slice(from, from + most), length };
          for (const [index, turn] of await play(common, request, part)) turns[index] = turn;
        }
      }
      return turns;
    },
  };
}

/** Rows a batch is padded to. Two or more: a single row takes another kernel, with other bits. */
function rowsFor(n: number): number {
  return Math.max(FEWEST_ROWS, 2 ** Math.ceil(Math.log2(n)));
}

/** Numbers with one key together, in their order. */
function groupBy<K>(numbers: readonly number[], keyOf: (n: number) => K): Map<K, number[]> {
  const groups = new Map<K, number[]>();
  for (const n of numbers) {
    const group = groups.get(keyOf(n)) ?? [];
    if (group.length === 0) groups.set(keyOf(n), group);
    group.push(n);
  }
  return groups;
}

/** 1 where the temperature is 0: greedy rows read no probabilities. */
function inverseOf(temperature: number) {
  return floats(Float32Array.of(temperature === 0 ? 1 : 1 / temperature), [1]);
}

function checkRequest(request: GenerateRequest, vocabulary: number): void {
  const { prompts, seeds, maxNewTokens, temperature } = request;
  if (!(temperature >= 0 && temperature < Infinity)) {
    throw new RangeError(`Cannot generate: temperature is ${temperature}; use 0 or more`);
  }
  if (!(Number.isInteger(maxNewTokens) && maxNewTokens >= 1)) {
    throw new RangeError(`Cannot generate: maxNewTokens is ${maxNewTokens}; use 1 or more`);
  }
  if (seeds.length !== prompts.length) {
    throw new RangeError(
      `Cannot generate: there are ${prompts.length} prompts and ${seeds.length} seeds`,
    );
  }
  prompts.forEach((prompt, i) => {
    if (prompt.length === 0) throw new RangeError(`Cannot generate: prompt ${i} has no tokens`);
    checkTokens(prompt, vocabulary, `prompt ${i}`);
  });
}
