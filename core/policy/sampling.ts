import { NotFiniteError } from "../errors.ts";

/** What a graph says of a row's next token, by id, in fp32. */
export interface TokenDistribution {
  /** Natural logs under temperature 1. */
  readonly logProbs: Float32Array;
  /** Under the temperature to sample with. */
  readonly probabilities: Float32Array;
}

/** A chosen token and its natural log-probability under temperature 1. */
export interface SampledToken {
  readonly token: number;
  readonly logProb: number;
}

/**
 * Draws a token by inverting its distribution function at `uniform`, a number in [0, 1): in order of ids,
 * sums in double precision. Throws NotFiniteError when the numbers are not a distribution.
 */
export function sampleToken(
  { logProbs, probabilities }: TokenDistribution,
  uniform: number,
): SampledToken {
  let total = 0;
  for (let id = 0; id < probabilities.length; id++) total += probabilities[id]!;
  if (!(total > 0 && total < Infinity)) throw notFinite();
  const wanted = uniform * total;
  let sum = 0;
  let token = 0;
  for (let id = 0; id < probabilities.length; id++) {
    if (probabilities[id] === 0) continue;
    token = id; // rounding may ask for all of the sum: the last one with a share of its own
    sum += probabilities[id]!;
    if (sum > wanted) break;
  }
  return { token, logProb: logProbs[token]! };
}

/** The likeliest token, the lowest id among equals. Throws NotFiniteError on NaN. */
export function likeliestToken(logProbs: Float32Array): SampledToken {
  let token = 0;
  for (let id = 1; id < logProbs.length; id++) if (logProbs[id]! > logProbs[token]!) token = id;
  const logProb = logProbs[token]!;
  if (Number.isFinite(logProb)) return { token, logProb };
  throw notFinite();
}

function notFinite(): NotFiniteError {
  return new NotFiniteError(
    "Cannot sample a token: a logit is NaN or infinite; go back to an earlier checkpoint",
  );
}
