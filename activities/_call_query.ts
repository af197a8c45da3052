import { setImmediate } from "node:timers/promises";
import { CandidateError } from "../core/errors.ts";
import { createSendWindows } from "../core/routing/mod.ts";
import type { CallIntent, CompletedCall, OpenAttempt } from "../core/storage/ledger.ts";
import { type Arrival, type Entry, judge, toEntry } from "./_call_attempt.ts";
import type {
  CallsPark,
  CallsWait,
  PlannedCall,
  QueriedCalls,
  QueryOptions,
  QueryPorts,
} from "./candidates.ts";

/** How long what is in flight may still take once the caller has aborted, in ms. */
const GRACE_MS = 2_000;

/** Waits nobody named a time for, in ms; the workflow lengthens them when they repeat. */
const WAIT_MS = { rate_limited: 1_000, unavailable: 2_000, malformed_reply: 1_000, busy: 1_000 };

const WORDS = {
  rate_limited: "rate limited",
  unavailable: "unavailable",
  malformed_reply: "answering in a form that cannot be read",
  busy: "busy with the same calls or with calls that hold the rest of the budget",
};

type WaitKind = CallsWait["kind"];

/** One query of a list of calls: what is open, in flight, arrived and done. */
export class CallQuery {
  readonly #ports: QueryPorts;
  readonly #options: QueryOptions;
  readonly #calls: readonly PlannedCall[];
  readonly #windows = createSendWindows();
  readonly #completed = new Map<string, CompletedCall>();
  readonly #dropped = new Set<string>();
  readonly #inFlight = new Map<string, Promise<void>>();
  /** Why calls to a model wait. */
  readonly #waits = new Map<string, { kind: WaitKind; ms: number }>();
  readonly #abort = new AbortController();
  #pending: Entry[] = [];
  #arrived: Arrival[] = [];
  #wake = () => {};
  #parked: CallsPark | null = null;
  /** The budget refused calls since the last one in flight arrived. */
  #refused = false;

  constructor(ports: QueryPorts, calls: readonly PlannedCall[], options: QueryOptions) {
    this.#ports = ports;
    this.#calls = calls;
    this.#options = options;
  }

  async run(): Promise<QueriedCalls> {
    const { signal, deadlineMs } = this.#options;
    this.#pending = this.#look();
    const until = performance.now() + deadlineMs;
    let grace: ReturnType<typeof setTimeout> | undefined;
    const onAbort = () => {
      grace = setTimeout(() => this.#abort.abort(signal.reason), GRACE_MS);
    };
    signal.addEventListener("abort", onAbort);
    try {
      while (true) {
        if (!signal.aborted && performance.now() < until) this.#send();
        if (this.#inFlight.size === 0) break;
        await this.#someArrival();
        this.#record();
      }
    } catch (error) {
      await this.#abandon(error);
      throw error;
    } finally {
      clearTimeout(grace);
      signal.removeEventListener("abort", onAbort);
    }
    signal.throwIfAborted();
    return this.#outcome();
  }

  /** Takes what the ledger knows; returns the calls to send, each once. */
  #look(): Entry[] {
    const candidates = new Map(this.#ports.candidates.map((one) => [one.name, one]));
    const entries = new Map<string, Entry>();
    for (const call of this.#calls) {
      const candidate = candidates.get(call.request.model);
      if (candidate === undefined) this.#dropped.add(call.key);
      else entries.set(call.key, toEntry(call, candidate));
    }
    const known = this.#ports.ledger.find([...entries.values()].map(({ intent }) => intent));
    for (const call of known.values()) this.#take(call);
    return [...entries.values()].filter(({ intent }) => !known.has(intent.key));
  }

  #take(call: CompletedCall): void {
    if (call.outcome === "refused") this.#dropped.add(call.key);
    else this.#completed.set(call.key, call);
  }

  /** Sends what the windows, the concurrency and the budget admit. */
  #send(): void {
    while (this.#parked === null && !this.#refused) {
      const chunk = this.#admitted();
      if (chunk.length === 0) return;
      const byIntent = new Map(chunk.map((entry) => [entry.intent, entry]));
      const entryOf = (intent: CallIntent) => byIntent.get(intent)!;
      const { limits } = this.#options;
      const begun = this.#ports.ledger.begin([...byIntent.keys()], limits);
      const opened = new Set(begun.open.map(({ intent }) => intent));
      for (const { intent } of chunk) {
        if (!opened.has(intent)) this.#windows.withdraw(intent.model);
      }
      for (const call of begun.completed) this.#take(call);
      for (const { model } of begun.busy) this.#wait(model, "busy", null);
      for (const attempt of begun.open) this.#ask(attempt, entryOf(attempt.intent));
      if (begun.refused.length > 0) {
        this.#refused = true;
        this.#pending = [...begun.refused.map(entryOf), ...this.#pending];
      }
    }
  }

  #admitted(): Entry[] {
    const free = this.#options.concurrency - this.#inFlight.size;
    const chunk: Entry[] = [];
    const rest: Entry[] = [];
    for (const entry of this.#pending) {
      const goes = chunk.length < free && this.#windows.admit(entry.intent.model);
      (goes ? chunk : rest).push(entry);
    }
    this.#pending = rest;
    return chunk;
  }

  #ask({ attemptId, intent }: OpenAttempt, entry: Entry): void {
    const idempotencyKey = `${intent.key}/${intent.requestSha256.slice(0, 16)}`;
    const ask = async () =>
      await this.#ports.client.ask(entry.request, { idempotencyKey, signal: this.#abort.signal });
    this.#inFlight.set(
      attemptId,
      ask().then(
        (reply) => this.#arrive({ attemptId, entry, reply }),
        (error) => this.#arrive({ attemptId, entry, error }),
      ),
    );
  }

  #arrive(arrival: Arrival): void {
    this.#arrived.push(arrival);
    this.#wake();
  }

  /** Until at least one arrived, with those of the same turn of the event loop: one commit for all. */
  async #someArrival(): Promise<void> {
    if (this.#arrived.length === 0) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    await setImmediate();
  }

  /** Makes all that arrived durable, then takes it over. */
  #record(): void {
    const verdicts = this.#arrived.splice(0).map(judge);
    const { ledger } = this.#ports;
    const settled = verdicts.filter((verdict) => verdict.as === "settled");
    const failed = verdicts.filter((verdict) => verdict.as === "failed");
    const lost = verdicts.filter((verdict) => verdict.as === "lost");
    if (settled.length > 0) ledger.settle(settled);
    if (failed.length > 0) ledger.fail(failed.map((one) => ({ ...one, chargedPico: 0 })));
    if (lost.length > 0) ledger.lose(lost);
    for (const { attemptId, call, end } of settled) {
      this.#inFlight.delete(attemptId);
      this.#take(call);
      this.#windows.end(call.model, end);
      if (this.#windows.closedBy(call.model) === "bad_request") this.#park(call.model);
    }
    for (const { attemptId, model, kind, error } of [...failed, ...lost]) {
      this.#inFlight.delete(attemptId);
      this.#windows.end(model, kind);
      this.#hold(model, error);
    }
    this.#refused = false;
  }

  /** Makes a call that failed wait, or the run park. */
  #hold(model: string, error: unknown): void {
    if (this.#abort.signal.aborted) return;
    if (!(error instanceof CandidateError)) throw error;
    const { kind, retryAfterMs } = error;
    if (kind === "bad_key") this.#park(model);
    else if (kind in WAIT_MS) this.#wait(model, kind as WaitKind, retryAfterMs);
  }

  #wait(model: string, kind: WaitKind, retryAfterMs: number | null): void {
    const ms = retryAfterMs ?? WAIT_MS[kind];
    const known = this.#waits.get(model);
    if (known === undefined || known.ms <= ms) this.#waits.set(model, { kind, ms });
  }

  #park(model: string): void {
    const account = this.#ports.candidates.find(({ name }) => name === model)?.account ?? model;
    this.#parked ??= this.#windows.closedBy(model) === "bad_request"
      ? {
        kind: "bad_request",
        reason: `"${model}" refuses every request; check its name and its limits, then resume`,
      }
      : {
        kind: "bad_key",
        reason: `account "${account}" is not let in or has no credit; renew its key, then resume`,
      };
  }

  /** After a failure of the ledger or of the program: leaves no attempt open behind. */
  async #abandon(error: unknown): Promise<void> {
    this.#abort.abort(error);
    await Promise.all(this.#inFlight.values());
    const open = [...this.#inFlight.keys()];
    try {
      this.#ports.ledger.lose(open.map((attemptId) => ({ attemptId, kind: "unavailable" })));
    } catch {
      // the first failure is the one to report; the ledger loses them when it works again
    }
  }

  #outcome(): QueriedCalls {
    const completed = new Map<string, CompletedCall>();
    for (const { key } of this.#calls) {
      const call = this.#completed.get(key);
      if (call !== undefined) completed.set(key, call);
    }
    const open = new Set(
      this.#calls.map(({ key }) => key).filter((key) =>
        !completed.has(key) && !this.#dropped.has(key)
      ),
    );
    const done = { completed, dropped: [...this.#dropped] };
    if (this.#parked === null && this.#refused) this.#outOfBudget();
    if (this.#parked !== null || open.size === 0) {
      return { ...done, waiting: null, parked: this.#parked };
    }
    return { ...done, waiting: this.#describeWait(open.size), parked: null };
  }

  /** Parks, unless calls in flight elsewhere may yet cost less than they reserved. */
  #outOfBudget(): void {
    const runs = new Map(this.#pending.map(({ intent }) => [intent.run, intent.model]));
    for (const [run, model] of runs) {
      if (this.#ports.ledger.spend(run).open > 0) return this.#wait(model, "busy", null);
    }
    this.#parked = {
      kind: "out_of_budget",
      reason: "the next call could pass the budget; raise budget.max_usd or budget.max_calls",
    };
  }

  #describeWait(count: number): CallsWait {
    const waits = [...this.#waits].sort(([, a], [, b]) => b.ms - a.ms);
    const longest = waits[0]?.[1] ?? { kind: "busy", ms: 0 }; // time was up before anything failed
    return {
      count,
      retryAfterMs: longest.ms,
      kind: longest.kind,
      reason: waits.length === 0
        ? "the time of this query was up"
        : waits.map(([model, { kind }]) => `"${model}" is ${WORDS[kind]}`).join(", "),
      models: waits.map(([model]) => model),
    };
  }
}
