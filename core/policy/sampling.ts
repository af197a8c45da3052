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
  const mass = massBelow(logits, max, 1, Infinity).total;
  if (!Number.isFinite(mass)) {
    throw new NotFiniteError(
      "Cannot sample a token: a logit is NaN or infinite; go back to an earlier checkpoint",
    );
  }
  const token = temperature === 0 ? best : invert(logits, { max, temperature, uniform, mass });
  return { token, logProb: Math.fround(logits[token]! - max - Math.log(mass)) };
}

function invert(
  logits: Float32Array,
  { max, temperature, uniform, mass }: {
    max: number;
    temperature: number;
    uniform: number;
    mass: number;
  },
): number {
  const total = temperature === 1 ? mass : massBelow(logits, max, temperature, Infinity).total;
  return massBelow(logits, max, temperature, uniform * total).token;
}

/**
 * Adds exp((logit − max) / temperature) in order of ids until the sum passes `limit`; the token that
 * passed it, else the last one with any mass, which rounding at the upper end may ask for.
 */
function massBelow(
  logits: Float32Array,
  max: number,
  temperature: number,
  limit: number,
): { token: number; total: number } {
  let total = 0;
  let token = 0;
  for (let id = 0; id < logits.length; id++) {
    const weight = Math.exp((logits[id]! - max) / temperature);
    if (weight === 0) continue;
    total += weight;
    token = id;
    if (total > limit) break;
  }
  return { token, total };
}
