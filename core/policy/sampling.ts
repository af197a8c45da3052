import { NotFiniteError } from "../errors.ts";

/** A chosen token and its natural log-probability under temperature 1, rounded to fp32. */
export interface SampledToken {
  readonly token: number;
  readonly logProb: number;
}

/**
 * Draws a token from softmax(logits / temperature) by inverting its distribution function at `uniform`,
 * a number in [0, 1), in double precision and in order of ids. Temperature 0 takes the largest logit, the
 * lowest id among equals. Throws RangeError on a negative temperature, NotFiniteError on a logit that is
 * NaN or +infinity; −infinity is a token that is never drawn.
 */
export function sampleToken(
  logits: Float32Array,
  { temperature, uniform }: { temperature: number; uniform: number },
): SampledToken {
  if (!(temperature >= 0)) {
    throw new RangeError(`Cannot sample a token: temperature is ${temperature}; use 0 or more`);
  }
  let best = 0;
  for (let id = 1; id < logits.length; id++) if (logits[id]! > logits[best]!) best = id;
  const max = logits[best]!;
  const plain = cumulate(logits, max, 1);
  const mass = plain.at(-1)!;
  if (!Number.isFinite(mass)) {
    throw new NotFiniteError(
      "Cannot sample a token: a logit is NaN or infinite; go back to an earlier checkpoint",
    );
  }
  const token = temperature === 0
    ? best
    : invert(temperature === 1 ? plain : cumulate(logits, max, temperature), uniform);
  return { token, logProb: Math.fround(logits[token]! - max - Math.log(mass)) };
}

/** Running sums of exp((logit − max) / temperature), in order of ids. */
function cumulate(logits: Float32Array, max: number, temperature: number): Float64Array {
  const sums = new Float64Array(logits.length);
  let total = 0;
  for (let id = 0; id < logits.length; id++) {
    sums[id] = total += Math.exp((logits[id]! - max) / temperature);
  }
  return sums;
}

/**
 * The first id whose running sum passes the share `uniform` of the whole, or reaches the whole where rounding
 * asks for all of it: in both cases an id with mass of its own.
 */
function invert(sums: Float64Array, uniform: number): number {
  const total = sums.at(-1)!;
  const wanted = uniform * total;
  return sums.findIndex((sum) => sum > wanted || sum === total);
}
