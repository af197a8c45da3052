import { proxyActivities } from "@temporalio/workflow";
import type { CandidateActivities } from "../activities/calls.ts";
import type { PolicyActivities } from "../activities/policy.ts";
import type { RunActivities } from "../activities/runs.ts";

const common = {
  startToCloseTimeout: "1 hour",
  heartbeatTimeout: "8 seconds",
  // what is cancelled has ended before the workflow does: no call is cut, nothing is written after it
  cancellationType: "WAIT_CANCELLATION_COMPLETED",
} as const;
const retry = { initialInterval: "500 milliseconds", maximumInterval: "30 seconds" } as const;

/** Light steps: resolve, plan, score, report. */
export const light = proxyActivities<RunActivities>({ ...common, taskQueue: "holdfast", retry });

/** One device: generation and learning. */
export const device = proxyActivities<PolicyActivities>({
  ...common,
  taskQueue: "holdfast-policy",
  retry,
});

/** Scripted turns need no device. */
export const scripted = proxyActivities<PolicyActivities>({
  ...common,
  taskQueue: "holdfast",
  retry,
});

/** Paid calls of one provider. */
export function callsOn(taskQueue: string) {
  return proxyActivities<CandidateActivities>({ ...common, taskQueue, retry });
}
