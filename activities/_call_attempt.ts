import { createHash } from "node:crypto";
import { CandidateError } from "../core/errors.ts";
import {
  type Candidate,
  type CandidateReply,
  type CandidateRequest,
  priceOf,
  promptTokensAtMost,
  requestBody,
  reservationOf,
  UnansweredError,
} from "../core/routing/mod.ts";
import type { CallIntent, CompletedCall } from "../core/storage/ledger.ts";
import type { PlannedCall } from "./candidates.ts";

/** A call ready to be sent. */
export interface Entry {
  readonly intent: CallIntent;
  readonly request: CandidateRequest;
  readonly candidate: Candidate;
}

/** How an attempt came back. */
export type Arrival =
  & { readonly attemptId: string; readonly entry: Entry }
  & ({ readonly reply: CandidateReply } | { readonly error: unknown });

/** What that means for the ledger and for the model's window. */
export type Verdict =
  | Settled
  | (Unsettled & { readonly as: "failed" })
  | (Unsettled & { readonly as: "lost" });

interface Settled {
  readonly as: "settled";
  readonly attemptId: string;
  readonly end: "answered" | "content_filter" | "bad_request";
  readonly call: CompletedCall;
}

interface Unsettled {
  readonly attemptId: string;
  readonly model: string;
  readonly kind: CandidateError["kind"];
  readonly error: unknown;
}

/** Prices a call at its worst and names its request. */
export function toEntry(call: PlannedCall, candidate: Candidate): Entry {
  const { key, run, phase, step, request } = call;
  const intent = {
    key,
    requestSha256: createHash("sha256").update(requestBody(request)).digest("hex"),
    run,
    phase,
    step,
    model: candidate.name,
    account: candidate.account,
    priceVersion: candidate.price.version,
    reservedPico: reservationOf(candidate.price, promptTokensAtMost(request), request.max_tokens),
  };
  return { intent, request, candidate };
}

export function judge(arrival: Arrival): Verdict {
  const { attemptId, entry } = arrival;
  if ("reply" in arrival) {
    const { outcome } = arrival.reply;
    return {
      attemptId,
      as: "settled",
      end: outcome,
      call: complete(entry, arrival.reply, outcome),
    };
  }
  const { error } = arrival;
  const { model } = entry.intent;
  if (!(error instanceof CandidateError)) {
    return { attemptId, as: "lost", model, kind: "unavailable", error };
  }
  const { kind } = error;
  if (error instanceof UnansweredError) return { attemptId, as: "lost", model, kind, error };
  switch (kind) {
    case "content_filter":
      return {
        attemptId,
        as: "settled",
        end: kind,
        call: complete(entry, UNREAD, "content_filter"),
      };
    case "bad_request":
      return { attemptId, as: "settled", end: kind, call: complete(entry, UNREAD, "refused") };
    default:
      return { attemptId, as: "failed", model, kind, error };
  }
}

/** What comes back of a request that was turned away unread: it is free. */
const UNREAD = { text: "", usage: { promptTokens: 0, completionTokens: 0 } };

function complete(
  { intent, candidate }: Entry,
  { text, usage }: Pick<CandidateReply, "text" | "usage">,
  outcome: CompletedCall["outcome"],
): CompletedCall {
  const { key, requestSha256, model } = intent;
  const costPico = priceOf(candidate.price, usage);
  return { key, requestSha256, model, text, outcome, usage, costPico };
}
