import { ApplicationFailure, ApplicationFailureCategory } from "@temporalio/common";
import { isCancellation } from "@temporalio/workflow";

const STOPPED = "StoppedError";

/** Ends a shard that a stop found paused or waiting: nothing of it is in flight. */
export function stopped(): ApplicationFailure {
  return ApplicationFailure.create({
    message: "stopped by an operator; the same start command goes on from here",
    type: STOPPED,
    nonRetryable: true,
    category: ApplicationFailureCategory.BENIGN,
  });
}

/** Whether a child's failure is that of a stop. */
export function isStopped(error: unknown): boolean {
  let at = error;
  while (at instanceof Error && !(at instanceof ApplicationFailure)) at = at.cause;
  return at instanceof ApplicationFailure && at.type === STOPPED;
}

/** All results in order. After a stop or a cancellation the others first come to rest, so that no call is cut. */
export async function together<T>(works: readonly Promise<T>[]): Promise<T[]> {
  try {
    return await Promise.all(works);
  } catch (error) {
    if (isStopped(error) || isCancellation(error)) await Promise.allSettled(works);
    throw error;
  }
}
