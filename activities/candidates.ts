import type { Candidate, CandidateClient, CandidateRequest } from "../core/routing/mod.ts";
import type { BudgetLimits, CallLedger, CompletedCall } from "../core/storage/ledger.ts";
import { CallQuery } from "./_call_query.ts";

/** A call to make: its key, what it is for, and what is asked. */
export interface PlannedCall {
  readonly key: string;
  readonly run: string;
  readonly phase: string;
  readonly step: number;
  readonly request: CandidateRequest;
}

export interface QueryPorts {
  readonly ledger: CallLedger;
  readonly client: CandidateClient;
  /** The pool in force; a call to any other model is dropped as withdrawn. */
  readonly candidates: readonly Candidate[];
}

export interface QueryOptions {
  readonly limits: BudgetLimits;
  /** Calls in flight at most. */
  readonly concurrency: number;
  /** Its abort sends nothing more, gives what is in flight a moment to arrive, and is thrown. */
  readonly signal: AbortSignal;
  /** After this time nothing more is sent; what is in flight is waited for. */
  readonly deadlineMs: number;
}

/** Why some calls are not answered yet; holds no word of any prompt, reply or key. */
export interface CallsWait {
  readonly count: number;
  /** How long to wait before asking again, in ms: the provider's word where there is one. */
  readonly retryAfterMs: number;
  /** `busy`: the calls are in flight elsewhere, or this query's time was up. */
  readonly kind: "rate_limited" | "unavailable" | "malformed_reply" | "busy";
  readonly reason: string;
  readonly models: readonly string[];
}

/** Why the run must stop until an operator acts; holds no word of any prompt, reply or key. */
export interface CallsPark {
  /** `bad_request`: many requests in a row were refused, so a setting is wrong. */
  readonly kind: "out_of_budget" | "bad_key" | "bad_request";
  readonly reason: string;
}

/** Every call is completed, dropped, or left over; those left over are why it waits or parks. */
export interface QueriedCalls {
  /** By key, in the order asked. */
  readonly completed: ReadonlyMap<string, CompletedCall>;
  /** Keys of calls the provider refuses for good or whose candidate is withdrawn. */
  readonly dropped: readonly string[];
  /** Null when nothing is left over, or `parked` says why. */
  readonly waiting: CallsWait | null;
  readonly parked: CallsPark | null;
}

/**
 * Answers calls from the ledger and asks the candidates the rest, each result durable before it is seen
 * here. Never throws for what providers and budgets do: such calls wait, are dropped, or park the run, and
 * the workflow asks again. Throws the reason of an abort, and what breaks in the ledger or the program;
 * attempts in flight are then recorded as lost.
 */
export async function queryCalls(
  ports: QueryPorts,
  calls: readonly PlannedCall[],
  options: QueryOptions,
): Promise<QueriedCalls> {
  return await new CallQuery(ports, calls, options).run();
}
