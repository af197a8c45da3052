import type { LossBuilder } from "../policy/mod.ts";
import { maskedSum } from "./_masks.ts";

/** Cross-entropy of the tokens to imitate, averaged over the whole optimizer step. */
export const sft: LossBuilder = (g, { logProbs, mask, hyper }) => {
  const total = maskedSum(g, g.neg(logProbs), mask);
  return { loss: g.mul(total, hyper.invTokens), sums: {} };
};
