import type { GraphBuilder } from "./builder.ts";
import type { Value } from "./model_proto.ts";

/** Positions of the numbers in an optimizer's input vector. */
export const OPTIMIZER_INPUTS = [
  "lr",
  "beta1",
  "beta2",
  "eps",
  "weightDecay",
  "gradClip",
  "step",
] as const;

/** √ of the sum of squares over all tensors. */
export function globalNorm(g: GraphBuilder, tensors: readonly Value[]): Value {
  const squares = tensors.map((x) => g.reduceSum(g.mul(x, x), x.shape.map((_, i) => i)));
  return g.sqrt(squares.reduce((sum, square) => g.add(sum, square)));
}

/**
 * AdamW (Loshchilov and Hutter, 2019): m ← β₁m + (1−β₁)ĝ, v ← β₂v + (1−β₂)ĝ²,
 * p ← p − lr·(m/(1−β₁ᵗ) / (√(v/(1−β₂ᵗ)) + eps) + wd·p), where ĝ is the clipped gradient.
 */
export function adamW(
  g: GraphBuilder,
  { parameter, gradient, m, v, hyper, scale, decayed }: {
    readonly parameter: Value;
    readonly gradient: Value;
    readonly m: Value;
    readonly v: Value;
    /** Scalars by name, with the bias corrections `correction1` and `correction2`. */
    readonly hyper: Readonly<Record<string, Value>>;
    /** Factor of clipping. */
    readonly scale: Value;
    readonly decayed: boolean;
  },
): { parameter: Value; m: Value; v: Value } {
  const { lr, beta1, beta2, eps, weightDecay, correction1, correction2 } = hyper as Record<
    string,
    Value
  >;
  const one = g.scalar(1);
  const clipped = g.mul(gradient, scale);
  const nextM = g.add(g.mul(m, beta1!), g.mul(clipped, g.sub(one, beta1!)));
  const nextV = g.add(g.mul(v, beta2!), g.mul(g.mul(clipped, clipped), g.sub(one, beta2!)));
  const denominator = g.add(g.sqrt(g.div(nextV, correction2!)), eps!);
  const update = g.div(g.div(nextM, correction1!), denominator);
  const whole = decayed ? g.add(update, g.mul(parameter, weightDecay!)) : update;
  return { parameter: g.sub(parameter, g.mul(whole, lr!)), m: nextM, v: nextV };
}
