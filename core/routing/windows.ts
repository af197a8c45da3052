import type { CandidateError } from "../errors.ts";

/** Calls in flight to a model that has not answered yet. */
const FIRST_WINDOW = 4;
/** Failures in a row after which a model is left alone. */
const FAILURES_IN_A_ROW = 3;
/** Refused requests in a row that mean the setting is wrong, not the request. */
const REFUSALS_IN_A_ROW = 16;

/** How an attempt ended, for the window of its model. */
export type AttemptEnd = "answered" | CandidateError["kind"];

/**
 * Which models may be sent to now. A model starts with few calls in flight and gets one more for each
 * answer, so an outage loses few; it is closed by a rate limit at once, by an outage after three failures
 * in a row, and by what needs the operator.
 */
export interface SendWindows {
  /** Whether one more call may leave for the model; when true the caller must send it. */
  admit(model: string): boolean;
  /** Takes back an admission that was not used. */
  withdraw(model: string): void;
  /** Records how a call ended that was admitted. */
  end(model: string, how: AttemptEnd): void;
  /** Why the model is closed; null while it is open. */
  closedBy(model: string): AttemptEnd | null;
}

/** Windows of models nobody has asked yet. */
export function createSendWindows(): SendWindows {
  const windows = new Map<string, ReturnType<typeof freshWindow>>();
  const of = (model: string) => {
    const window = windows.get(model) ?? freshWindow();
    windows.set(model, window);
    return window;
  };
  return {
    admit: (model) => {
      const window = of(model);
      if (window.closedBy !== null || window.inFlight >= FIRST_WINDOW + window.answered) {
        return false;
      }
      window.inFlight++;
      return true;
    },
    withdraw: (model) => {
      of(model).inFlight--;
    },
    end: (model, how) => {
      const window = of(model);
      window.inFlight--;
      if (how === "answered" || how === "content_filter") {
        window.answered++;
        window.failures = 0;
        window.refusals = 0;
        return;
      }
      if (how === "bad_request") window.refusals++;
      else window.failures++;
      const closes = how === "rate_limited" || how === "bad_key" ||
        window.failures >= FAILURES_IN_A_ROW || window.refusals >= REFUSALS_IN_A_ROW;
      if (closes) window.closedBy ??= how;
    },
    closedBy: (model) => of(model).closedBy,
  };
}

function freshWindow() {
  return {
    inFlight: 0,
    answered: 0,
    failures: 0,
    refusals: 0,
    closedBy: null as AttemptEnd | null,
  };
}
