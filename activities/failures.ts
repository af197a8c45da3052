import { ApplicationFailure } from "@temporalio/activity";
import { EngineError } from "../core/errors.ts";

/** Turns a failure the engine knows into Temporal's, of the same name; others pass as they are. */
export function toFailure(error: unknown): unknown {
  if (!(error instanceof EngineError)) return error;
  return ApplicationFailure.create({
    message: error.message,
    type: error.name,
    nonRetryable: !error.retryable,
    details: [error.kind],
  });
}

/** Wraps every activity so that its known failures reach the workflow under their own names. */
export function namingFailures<T extends Record<string, (input: never) => Promise<unknown>>>(
  activities: T,
): T {
  const wrapped = Object.entries(activities).map(([name, activity]) => [
    name,
    (input: never) => activity(input).catch((error) => Promise.reject(toFailure(error))),
  ]);
  return Object.fromEntries(wrapped) as T;
}
