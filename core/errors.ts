/**
 * Failures a run expects, named by the boundary they crossed. The class decides what happens next:
 * only a policy mistake (which is data, not an error) may touch a reward.
 * @module
 */

/** What the durable loop does with a failure. */
export type FailureKind =
  | "rate_limited" // wait as long as the provider says, then ask again
  | "unavailable" // outage, timeout or refused connection: wait, ask again without end
  | "malformed_reply" // an answer that cannot be read: wait, ask again without end
  | "content_filter" // a priced refusal the policy sees
  | "bad_request" // the provider refuses this request: the rollout is dropped and counted
  | "bad_key" // parks the run until an operator acts
  | "invalid_config" // fails at once with the remedy
  | "damaged_artifact" // stored bytes do not match their digest
  | "not_finite" // a NaN or an infinity in the learner
  | "fenced"; // another process owns what this one wanted

/** A failure a run expects and records; `retryable` becomes Temporal's retry decision. */
export abstract class EngineError extends Error {
  abstract readonly kind: FailureKind;
  abstract readonly retryable: boolean;
}

/** A candidate model refused, stalled or broke. */
export class CandidateError extends EngineError {
  override readonly name = "CandidateError";
  override readonly retryable: boolean;
  constructor(
    readonly candidate: string,
    override readonly kind: Extract<
      FailureKind,
      | "rate_limited"
      | "unavailable"
      | "malformed_reply"
      | "content_filter"
      | "bad_request"
      | "bad_key"
    >,
    detail: string,
    /** How long to wait before asking again, in ms; null when nobody said. */
    readonly retryAfterMs: number | null = null,
    options?: ErrorOptions,
  ) {
    super(`Cannot query candidate "${candidate}": ${detail}`, options);
    this.retryable = kind === "rate_limited" || kind === "unavailable" ||
      kind === "malformed_reply";
  }
}

/** A config that cannot run; the message names the field, the value and the remedy. */
export class InvalidConfigError extends EngineError {
  override readonly name = "InvalidConfigError";
  override readonly kind = "invalid_config";
  override readonly retryable = false;
}

/** Stored bytes do not match the digest they are known by, or are missing. */
export class DamagedArtifactError extends EngineError {
  override readonly name = "DamagedArtifactError";
  override readonly kind = "damaged_artifact";
  override readonly retryable = false;
}

/** A loss, gradient or weight is NaN or infinite; the last good state is kept. */
export class NotFiniteError extends EngineError {
  override readonly name = "NotFiniteError";
  override readonly kind = "not_finite";
  override readonly retryable = false;
}

/** Another living process holds what this one asked for. */
export class FencedError extends EngineError {
  override readonly name = "FencedError";
  override readonly kind = "fenced";
  override readonly retryable = true;
}
