import type { BatchShape, LearnRow } from "../../core/policy/mod.ts";
import { floats, integers, type Values } from "./_runtime.ts";

/** Tokens of one micro-batch, about, padding included: more gains no speed and costs memory. */
const TOKEN_BUDGET = 4096;

/** Lengths and row counts are rounded up to these, so that few graphs serve all batches. */
const LENGTH_STEP = 16;
const ROW_STEP = 16;

/** Smallest multiple of `step` that is not below n. */
export function roundUp(n: number, step: number): number {
  return Math.ceil(n / step) * step;
}

/** Rows that go through a graph together. */
export interface MicroBatch {
  /** Places of the rows in the list they come from. */
  readonly places: readonly number[];
  readonly shape: BatchShape;
}

/**
 * Cuts a list of rows into micro-batches of rows of like length, short ones first, so that little is
 * padded: a function of the rows' lengths alone. A few rows that would need a graph of their own join the
 * next longer ones. Throws RangeError on rows that no batch can hold.
 */
export function planMicroBatches(rows: readonly LearnRow[], vocabulary: number): MicroBatch[] {
  if (rows.length === 0) throw new RangeError("Cannot make a batch: there are no rows");
  const byLength = new Map<number, number[]>();
  rows.forEach((row, i) => {
    checkRow(row, i, vocabulary);
    const length = roundUp(Math.max(2, row.tokenIds.length), LENGTH_STEP);
    byLength.set(length, [...byLength.get(length) ?? [], i]);
  });
  const batches: MicroBatch[] = [];
  const lengths = [...byLength.keys()].sort((a, b) => a - b);
  let waiting: number[] = [];
  lengths.forEach((length, at) => {
    waiting.push(...byLength.get(length)!);
    if (waiting.length < ROW_STEP && at < lengths.length - 1) return;
    const most = Math.max(1, Math.floor(TOKEN_BUDGET / length / ROW_STEP)) * ROW_STEP;
    for (let from = 0; from < waiting.length; from += most) {
      const places = waiting.slice(from, from + most);
      batches.push({ places, shape: { rows: roundUp(places.length, ROW_STEP), length } });
    }
    waiting = [];
  });
  return batches;
}

function checkRow({ tokenIds, responseMask, arrays }: LearnRow, i: number, vocabulary: number) {
  for (const [name, array] of Object.entries({ ...arrays, responseMask })) {
    if (array.length === tokenIds.length) continue;
    throw new RangeError(
      `Cannot make a batch: row ${i} has ${tokenIds.length} tokens but ${array.length} numbers of "${name}"`,
    );
  }
  checkTokens(tokenIds, vocabulary, `row ${i}`);
}

/** Throws RangeError unless every token is an id of the vocabulary. */
export function checkTokens(tokens: readonly number[], vocabulary: number, whose: string): void {
  for (const id of tokens) {
    if (!(Number.isInteger(id) && id >= 0 && id < vocabulary)) {
      throw new RangeError(
        `Cannot use the tokens of ${whose}: id ${id} is not in the vocabulary of ${vocabulary}`,
      );
    }
  }
}

/** Token ids [rows, length]; places without a token hold id 0. */
export function packTokens(rows: readonly (readonly number[])[], shape: BatchShape): Values {
  const ids = new Int32Array(shape.rows * shape.length);
  rows.forEach((tokens, row) => ids.set(tokens, row * shape.length));
  return { token_ids: integers(ids, [shape.rows, shape.length]) };
}

/** Numbers of the tokens after the first, [rows, length − 1]; 0 where there is no token. */
export function packNumbers(
  numbers: readonly (readonly number[])[],
  { rows, length }: BatchShape,
) {
  const packed = new Float32Array(rows * (length - 1));
  numbers.forEach((row, i) => packed.set(row.slice(1), i * (length - 1)));
  return floats(packed, [rows, length - 1]);
}
