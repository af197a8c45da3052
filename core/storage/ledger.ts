import type { Usage } from "../routing/mod.ts";
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
  /** `refused`: the provider does not take this request; free, and its rollout is dropped. */
  readonly outcome: "answered" | "content_filter" | "refused";
  readonly usage: Usage;
  readonly costPico: number;
}

/** Hard limits of one run; null means no limit. */
export interface BudgetLimits {
  readonly maxPico: number | null;
  /** Bounds calls completed and in flight together. */
  readonly maxCalls: number | null;
}

/** What a run has cost so far; `calls` are completed ones, without those refused. */
export interface Spend {
  readonly calls: number;
  readonly attempts: number;
  /** Attempts sent for a key whose result was already completed: always 0. */
  readonly repaid: number;
  /** Attempts that may have been billed and whose answer never arrived here. */
  readonly lost: number;
  /** Second requests under a key that had another answer. */
  readonly branches: number;
  /** Attempts in flight. */
  readonly open: number;
  /** All that counts against the budget except open reservations; `lostPico` of it is uncertain. */
  readonly costPico: number;
  /** Reservations of lost attempts: the bill lies in [costPico − lostPico, costPico]. */
  readonly lostPico: number;
  /** Reservations of the attempts in flight. */
  readonly reservedPico: number;
}

/** What one model cost in one step of a run. */
export interface SpendLine {
  readonly phase: string;
  readonly step: number;
  readonly model: string;
  readonly account: string;
  readonly attempts: number;
  readonly settled: number;
  readonly failed: number;
  readonly lost: number;
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly costPico: number;
}

/** One row of the ledger's begin(): an attempt that may now be sent. */
export interface OpenAttempt {
  readonly attemptId: string;
  readonly intent: CallIntent;
}

/** What begin() made of a list of intents; each is in exactly one list. */
export interface Begun {
  readonly open: readonly OpenAttempt[];
  /** Over the budget: the run must park unless other attempts in flight free their reservations. */
  readonly refused: readonly CallIntent[];
  /** A living process has the same call in flight. */
  readonly busy: readonly CallIntent[];
  /** Already answered, perhaps by another process since find(): never sent again. */
  readonly completed: readonly CompletedCall[];
}

/**
 * The durable record of every paid call; safe to share between processes of one machine. Everything
 * a method did is on disk when it returns.
 */
export interface CallLedger {
  /** Completed calls among these keys whose request is the same, by key. */
  find(calls: readonly Pick<CallIntent, "key" | "requestSha256">[]): Map<string, CompletedCall>;
  /**
   * Reserves money and writes the intents, in one durable transaction, in order, as many as the budget
   * allows: after the first it does not allow, none is opened. Loses the attempts of dead processes first.
   */
  begin(intents: readonly CallIntent[], limits: BudgetLimits): Begun;
  /**
   * Makes results durable (group commit): the attempts are settled, their reservation becomes cost.
   * Throws FencedError, and settles none, when an attempt is not open any more.
   */
  settle(results: readonly { readonly attemptId: string; readonly call: CompletedCall }[]): void;
  /** Ends attempts without a result; `chargedPico` is 0 unless the provider billed it anyway. */
  fail(
    failures: readonly {
      readonly attemptId: string;
      readonly kind: FailureKind;
      readonly chargedPico: number;
    }[],
  ): void;
  /**
   * Ends attempts that left and whose answer never arrived: lost, charged as reserved. Those that are not
   * open any more stay as they are. When it throws, the next begin() does it.
   */
  lose(losses: readonly { readonly attemptId: string; readonly kind: FailureKind }[]): void;
  /** Marks open attempts of dead processes lost and charges them as reserved; how many there were. */
  loseDead(): number;
  /** What a run has cost so far, in constant time; zeros for a run it does not know. */
  spend(run: string): Spend;
  /** Spending of a run by phase, step, model and account, in that order; reads every attempt of the run. */
  report(run: string): readonly SpendLine[];
  /** Whoever asks after this finds the attempts left open here lost. */
  close(): void;
}
