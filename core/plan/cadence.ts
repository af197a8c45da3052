/** Whether something done every `freq` steps is due after `step`; always due after the last, never at 0 or below. */
export function isDue(step: number, freq: number, totalSteps: number): boolean {
  return freq > 0 && (step % freq === 0 || step === totalSteps);
}
