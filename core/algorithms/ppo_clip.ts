import type { Value } from "../graph/mod.ts";
import type { LossBuilder } from "../policy/mod.ts";
import { masked, maskedSum } from "./_masks.ts";

/** Clamps the log-ratio before exp, as verl does. */
const LOG_RATIO_BOUND = 20;
/** Bound of the k3 estimate. */
const KL_BOUND = 10;

/**
 * PPO's clipped objective with separate bounds (clip-higher, DAPO), averaged over all tokens of the step:
 * max(−A·r, −A·clip(r, 1−low, 1+high)) − entropyCoeff·H + klLossCoef·k3, where k3 = e^d − d − 1 and
 * d = logp_ref − logp (Schulman, 2020).
 */
export const ppoClip: LossBuilder = (g, inputs) => {
  const { mask, hyper } = inputs;
  const one = g.scalar(1);
  const safe = (x: Value) => masked(g, x, mask);
  const clamp = (x: Value, bound: number) => g.max(g.min(x, g.scalar(bound)), g.scalar(-bound));
  const logProbs = safe(inputs.logProbs);
  const advantages = safe(inputs.advantages);
  const drift = g.sub(logProbs, safe(inputs.oldLogProbs));
  const ratio = g.exp(clamp(drift, LOG_RATIO_BOUND));
  const low = g.sub(one, hyper.clipRatioLow);
  const high = g.add(one, hyper.clipRatioHigh);
  const plain = g.neg(g.mul(advantages, ratio));
  const clipped = g.neg(g.mul(advantages, g.max(g.min(ratio, high), low)));
  const policy = g.max(plain, clipped);
  const d = clamp(g.sub(safe(inputs.refLogProbs), logProbs), LOG_RATIO_BOUND);
  const k3 = clamp(g.sub(g.sub(g.exp(d), d), one), KL_BOUND);
  const total = (x: Value) => maskedSum(g, x, mask);
  const policySum = total(policy);
  const entropySum = total(inputs.entropy);
  const klSum = total(k3);
  const whole = g.add(
    g.sub(policySum, g.mul(hyper.entropyCoeff, entropySum)),
    g.mul(hyper.klLossCoef, klSum),
  );
  return {
    loss: g.mul(whole, hyper.invTokens),
    sums: {
      pg_loss: policySum,
      entropy: entropySum,
      kl_loss: klSum,
      ppo_kl: total(g.neg(drift)),
      pg_clipfrac: total(g.cast(g.greater(clipped, plain), "float32")),
    },
  };
};
