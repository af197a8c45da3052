import { z } from "zod";

/** Hard limits, checked before every call; a run that meets one parks until it is raised. */
export const BudgetConfig = z.strictObject({
  /** Dollars, at most 9000 (money is counted in whole 10⁻¹² dollars); null is no limit. */
  max_usd: z.number().min(0).max(9000).nullable().default(null),
  /** Calls; null is no limit. */
  max_calls: z.int().min(0).nullable().default(null),
});
export type BudgetConfig = z.infer<typeof BudgetConfig>;
