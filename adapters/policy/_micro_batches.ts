import type { LearnRow } from "../../core/policy/engine.ts";
import type { BatchShape } from "../../core/policy/mod.ts";
import { floats, integers, type Values } from "./_runtime.ts";

/** Tokens of one micro-batch, about, padding included: more gains no speed and costs memory. */
const TOKEN_BUDGET = 2048;

/** Lengths and row counts are rounded up to these, so that few graphs serve all batches. */
const LENGTH_STEP = 8;
const ROW_STEP = 4;

/** Smallest multiple of `step` that is not below n. */
export function roundUp(n: number, step: number): number {
  return Math.ceil(n / step) * step;
}

/**
 * The one shape of all micro-batches of a list of rows: a function of their number and of the longest.
 * Throws RangeError on rows that no batch can hold.
 */
export function microBatchShape(rows: readonly LearnRow[], vocabulary: number): BatchShape {
  if (rows.length === 0) throw new RangeError("Cannot make a batch: there are no rows");
  let longest = 2;
  rows.forEach(({ tokenIds, responseMask, arrays }, i) => {
    longest = Math.max(longest, tokenIds.length);
    for (const [name, array] of Object.entries({ ...arrays, responseMask })) {
      if (array.length !== tokenIds.length) {
        throw new RangeError(
          `Cannot make a batch: row ${i} has ${tokenIds.length} tokens but ${array.length} numbers of "${name}"`,
        );
      }
    }
    checkTokens(tokenIds, vocabulary, `row ${i}`);
  });
  const length = roundUp(longest, LENGTH_STEP);
  const most = Math.max(1, Math.floor(TOKEN_BUDGET / length));
  const batches = Math.ceil(rows.length / most);
  return { rows: roundUp(Math.ceil(rows.length / batches), ROW_STEP), length };
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

/** Rows in their order, as many as the shape holds at a time. */
export function* microBatches(
  rows: readonly LearnRow[],
  shape: BatchShape,
): Generator<readonly LearnRow[]> {
  for (let from = 0; from < rows.length; from += shape.rows) {
    yield rows.slice(from, from + shape.rows);
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
