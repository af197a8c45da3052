/** Learning rates as functions of `at`, the number of optimizer steps done before this one. */

/** Linear rise to `lr` over `warmupSteps` (the first step gets lr / warmupSteps), then constant. */
export function warmUp(lr: number, at: number, warmupSteps: number): number {
  return lr * Math.min(1, (at + 1) / Math.max(1, warmupSteps));
}

/** Half a cosine from `lr` at 0 to 0 at `steps`. */
export function cosine(lr: number, at: number, steps: number): number {
  return 0.5 * lr * (1 + Math.cos(Math.PI * Math.min(1, at / steps)));
}
