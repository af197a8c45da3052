import type { CallIntent, CompletedCall, OpenAttempt } from "../../../core/storage/ledger.ts";

/** Reserves 10 pico-dollars. */
export function intentOf(key: string, changes: Partial<CallIntent> = {}): CallIntent {
  return {
    key,
    requestSha256: "aa",
    run: "run",
    phase: "train",
    step: 1,
    model: "small",
    account: "world",
    priceVersion: "2026-01-01",
    reservedPico: 10,
    ...changes,
  };
}

/** An answer that costs 7 pico-dollars. */
export function answerOf({ attemptId, intent }: OpenAttempt, text = "yes") {
  const call: CompletedCall = {
    key: intent.key,
    requestSha256: intent.requestSha256,
    model: intent.model,
    text,
    outcome: "answered",
    usage: { promptTokens: 3, completionTokens: 4 },
    costPico: 7,
  };
  return { attemptId, call };
}

export const NO_LIMITS = { maxPico: null, maxCalls: null };
