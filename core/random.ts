/**
 * Random numbers as a function of counters: the same counters always give the same number, whatever
 * else was drawn before. Every random choice of a run is addressed by (run seed, purpose, …counters).
 * @module
 */

/** The finaliser of MurmurHash3: every input bit moves every output bit. */
function mix32(x: number): number {
  x = Math.imul(x ^ (x >>> 16), 0x85ebca6b);
  x = Math.imul(x ^ (x >>> 13), 0xc2b2ae35);
  return (x ^ (x >>> 16)) >>> 0;
}

/** A 32-bit digest of integers (each taken modulo 2^32); order matters. */
export function hash32(...counters: readonly number[]): number {
  let h = 0x9e3779b9;
  for (const c of counters) {
    h = mix32((Math.imul(h, 0x01000193) ^ mix32((c >>> 0) + 0x7f4a7c15)) >>> 0);
  }
  return mix32(h ^ counters.length);
}

/** A 32-bit digest of a text's UTF-16 units, to turn a name into a counter. */
export function hashText(text: string): number {
  let h = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193) >>> 0;
  return mix32(h ^ text.length);
}

/** A uniform number in [0, 1) with 53 random bits, addressed by its counters. */
export function uniformAt(...counters: readonly number[]): number {
  const high = hash32(...counters, 0x243f6a88) >>> 5;
  const low = hash32(...counters, 0x85a308d3) >>> 6;
  return (high * 67108864 + low) / 9007199254740992;
}

/** A stream of numbers that starts at the given counters. */
export interface Random {
  /** Uniform in [0, 1). */
  next(): number;
  /** Uniform integer in [0, n); n is a positive integer. */
  int(n: number): number;
  /** Standard normal (Box–Muller). */
  normal(): number;
  /** One element; throws RangeError on an empty list. */
  pick<T>(items: readonly T[]): T;
  /** A shuffled copy (Fisher–Yates). */
  shuffle<T>(items: readonly T[]): T[];
}

/** The stream of these counters; two streams of equal counters are equal. */
export function createRandom(...counters: readonly number[]): Random {
  const base = hash32(...counters);
  let count = 0;
  const next = () => uniformAt(base, counters.length, count++);
  const int = (n: number) => {
    if (!Number.isInteger(n) || n < 1) throw new RangeError(`Cannot draw an integer below ${n}`);
    return Math.floor(next() * n);
  };
  return {
    next,
    int,
    normal: () => Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next()),
    pick: (items) => items[int(items.length)]!,
    shuffle: (items) => {
      const copy = [...items];
      for (let i = copy.length - 1; i > 0; i--) {
        const j = int(i + 1);
        [copy[i], copy[j]] = [copy[j]!, copy[i]!];
      }
      return copy;
    },
  };
}
