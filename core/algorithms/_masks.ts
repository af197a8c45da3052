import type { GraphBuilder, Value } from "../graph/mod.ts";

/** The value where the mask is not 0, else 0, even if the value is NaN. */
export function masked(g: GraphBuilder, x: Value, mask: Value): Value {
  const zero = g.scalar(0);
  return g.where(g.greater(mask, zero), x, zero);
}

/** The sum of a masked value over all tokens; a fractional mask scales. */
export function maskedSum(g: GraphBuilder, x: Value, mask: Value): Value {
  return g.reduceSum(g.mul(masked(g, x, mask), mask), [0, 1]);
}
