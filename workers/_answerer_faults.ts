import { z } from "zod";
import { uniformAt } from "../core/random.ts";

/** A way to fail, for a while or until it is taken away. */
export const Fault = z.strictObject({
  kind: z.enum(["rate_limit", "server_error", "hang", "refuse", "cut_body", "garbage"]),
  /** Part of the requests it hits. */
  probability: z.number().min(0).max(1).default(1),
  /** Models it hits; all when absent. */
  models: z.array(z.string()).optional(),
  /** Seconds it lasts; `refuse` needs it. */
  for_s: z.number().positive().optional(),
  /** Seconds `rate_limit` asks to wait. */
  retry_after_s: z.number().positive().default(1),
}).refine((fault) => fault.kind !== "refuse" || fault.for_s !== undefined, {
  message: "refuse needs for_s: nobody could end it",
});
export type Fault = z.infer<typeof Fault>;

/** The faults in force. */
export interface FaultPanel {
  set(fault: Fault): void;
  clear(): void;
  /** The fault that hits the next request for a model; null when none does. */
  next(model: string): Fault | null;
}

export function createFaultPanel(): FaultPanel {
  let faults: { fault: Fault; until: number }[] = [];
  let requests = 0;
  return {
    set: (fault) => {
      faults.push({ fault, until: performance.now() + (fault.for_s ?? Infinity) * 1000 });
    },
    clear: () => {
      faults = [];
    },
    next: (model) => {
      const at = requests++;
      faults = faults.filter(({ until }) => until > performance.now());
      const hit = faults.find(({ fault }, i) =>
        fault.kind !== "refuse" && (fault.models?.includes(model) ?? true) &&
        uniformAt(at, i) < fault.probability
      );
      return hit?.fault ?? null;
    },
  };
}
