import type { Usage } from "../routing/client.ts";
import type { FailureKind } from "../errors.ts";

/** A call about to be paid for. Money is an integer of 10⁻¹² dollars ("pico"). */
export interface CallIntent {
  readonly key: string;
  /** SHA-256 of the request body as it will be sent, lower-case hex. */
  readonly requestSha256: string;
  readonly run: string;
  readonly phase: string;
  readonly step: number;
  readonly model: string;
  /** Whose bill it is, such as `world` or `openrouter:team-a`. */
  readonly account: string;
  readonly priceVersion: string;
  /** The most this call can cost. */
  readonly reservedPico: number;
}

/** A call whose result is durable. */
export interface CompletedCall {
  readonly key: string;
  readonly requestSha256: string;
  readonly model: string;
  readonly text: string;
  readonly outcome: "answered" | "content_filter" | "refused";
  readonly usage: Usage;
  readonly costPico: number;
}

/** Hard limits of one run; null means no limit. */
export interface BudgetLimits {
  readonly maxPico: number | null;
  readonly maxCalls: number | null;
}

/** What a run has cost so far; `calls` are completed ones. */
export interface Spend {
  readonly calls: number;
  readonly attempts: number;
  /** Attempts sent for a key whose result was already completed: always 0. */
  readonly repaid: number;
  /** Attempts that may have been billed and whose answer never arrived here. */
  readonly lost: number;
  /** Second requests under a key that had another answer. */
  readonly branches: number;
  readonly costPico: number;
  readonly reservedPico: number;
}

/** One row of the ledger's begin(): an attempt that may now be sent. */
export interface OpenAttempt {
  readonly attemptId: string;
  readonly intent: CallIntent;
}

/** The durable record of every paid call; safe to share between processes of one machine. */
export interface CallLedger {
  /** Completed calls among these keys whose request is the same, by key. */
  find(calls: readonly Pick<CallIntent, "key" | "requestSha256">[]): Map<string, CompletedCall>;
  /**
   * Reserves money and writes the intents, in one durable transaction, in order, as many as the budget
   * allows. `refused` holds those it does not allow (the run must park). `busy` holds those a living
   * process has in flight. Open attempts of dead processes are marked lost and charged as reserved.
   */
  begin(intents: readonly CallIntent[], limits: BudgetLimits): {
    readonly open: readonly OpenAttempt[];
    readonly refused: readonly CallIntent[];
    readonly busy: readonly CallIntent[];
  };
  /** Makes results durable (group commit): the attempts are settled, their reservation becomes cost. */
  settle(results: readonly { readonly attemptId: string; readonly call: CompletedCall }[]): void;
  /** Ends attempts without a result; `chargedPico` is 0 unless the provider billed it anyway. */
  fail(
    failures: readonly {
      readonly attemptId: string;
      readonly kind: FailureKind;
      readonly chargedPico: number;
    }[],
  ): void;
  spend(run: string): Spend;
  close(): void;
}
