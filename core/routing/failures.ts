import { CandidateError } from "../errors.ts";

/**
 * A request left and no readable answer came back, so it may have been billed: a deadline, a connection
 * lost on the way, a body cut short or not in the promised form.
 */
export class UnansweredError extends CandidateError {
  constructor(
    candidate: string,
    kind: "unavailable" | "malformed_reply",
    detail: string,
    options?: ErrorOptions,
  ) {
    super(candidate, kind, detail, null, options);
  }
}
