import { hash32 } from "../random.ts";

/** A value with its bootstrap 95 % interval. */
export interface Interval {
  readonly value: number;
  readonly low: number;
  readonly high: number;
}

const RESAMPLES = 1000;

/**
 * Regret 1 − R/R*, of summed rewards and summed optima, over resampled questions; 0 where nothing can be
 * gained (R* = 0). Throws RangeError on empty lists or lists of different length.
 */
export function regretInterval(
  rewards: readonly number[],
  optima: readonly number[],
  seed = 0,
): Interval {
  requireParallel(rewards, optima);
  return resample(rewards.length, seed, (pick) => {
    const best = total(optima, pick);
    return best === 0 ? 0 : 1 - total(rewards, pick) / best;
  });
}

/**
 * The others' regret less ours on the same questions, both resampled together; above 0 where ours are
 * better. Throws RangeError as `regretInterval` does.
 */
export function pairedRegretDifference(
  others: readonly number[],
  ours: readonly number[],
  optima: readonly number[],
  seed = 0,
): Interval {
  requireParallel(others, ours);
  requireParallel(ours, optima);
  const gains = ours.map((reward, i) => reward - others[i]!);
  return resample(optima.length, seed, (pick) => {
    const best = total(optima, pick);
    return best === 0 ? 0 : total(gains, pick) / best;
  });
}

/** The i-th question of a resample. */
type Pick = (i: number) => number;

/** Percentile bootstrap (Efron 1979): the statistic of the list itself, and of lists drawn from it with replacement. */
function resample(length: number, seed: number, statistic: (pick: Pick) => number): Interval {
  if (length === 0) throw new RangeError("Cannot resample: the list is empty");
  const draws = Array.from(
    { length: RESAMPLES },
    (_, draw) => statistic((i) => Math.floor(hash32(seed, draw, i) / 2 ** 32 * length)),
  ).sort((a, b) => a - b);
  return {
    value: statistic((i) => i),
    low: draws[Math.floor(RESAMPLES * 0.025)]!,
    high: draws[Math.ceil(RESAMPLES * 0.975) - 1]!,
  };
}

function total(values: readonly number[], pick: Pick): number {
  let sum = 0;
  for (let i = 0; i < values.length; i++) sum += values[pick(i)]!;
  return sum;
}

function requireParallel(a: readonly number[], b: readonly number[]): void {
  if (a.length !== b.length) {
    throw new RangeError(`Cannot pair questions: one list has ${a.length}, the other ${b.length}`);
  }
}
