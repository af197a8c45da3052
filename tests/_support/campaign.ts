import assert from "node:assert/strict";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PoolConfig } from "../../configs/pool.ts";
import { createLedger } from "../../adapters/storage/ledger.ts";
import { createRandom } from "../../core/random.ts";
import { type Bill, readBill, readTrace, type RunTrace, startTrain } from "./train_process.ts";

/** A run from its start to its end, with what the other side billed. */
export interface Outcome {
  readonly trace: RunTrace;
  readonly bill: Bill;
  /** Seconds from the first command to the end. */
  readonly wallS: number;
  readonly kills: readonly {
    readonly afterS: number;
    readonly at: string;
    readonly inFlight: number;
  }[];
}

export async function withStateDir<T>(work: (stateDir: string) => Promise<T>): Promise<T> {
  const stateDir = await mkdtemp(join(tmpdir(), "holdfast-run-"));
  try {
    return await work(stateDir);
  } finally {
    await rm(stateDir, { recursive: true, force: true });
  }
}

/** Runs a command to its end; kill −9 of everything at `killAfterS` seconds after each (re)start works. */
export async function runKilled(
  stateDir: string,
  words: readonly string[],
  killAfterS: readonly number[],
  say: (words: string) => void = () => {},
): Promise<Outcome> {
  const run = nameOf(words);
  const startedAt = performance.now();
  const kills: { afterS: number; at: string; inFlight: number }[] = [];
  for (const afterS of killAfterS) {
    const train = startTrain(stateDir, words);
    await train.until(({ kind }) => kind === "status"); // the run answers: useful work goes on
    const ended = await Promise.race([
      train.exit.then(() => true),
      new Promise<false>((resolve) => setTimeout(() => resolve(false), afterS * 1000)),
    ]);
    if (ended) break;
    const last = train.lines().findLast(({ kind }) => kind === "status");
    await train.kill();
    const ledger = createLedger(join(stateDir, "ledger.db")); // opening it marks what was in flight
    const inFlight = ledger.spend(run).lost - kills.reduce((sum, kill) => sum + kill.inFlight, 0);
    ledger.close();
    const at = `${last?.["state"]} ${last?.["detail"] ?? last?.["step"]}`;
    kills.push({ afterS, at, inFlight });
    say(`kill ${kills.length} after ${afterS.toFixed(1)} s, in ${at}, ${inFlight} calls in flight`);
  }
  const train = startTrain(stateDir, words);
  const code = await train.exit;
  assert.equal(code, 0, train.stderr());
  return {
    trace: await readTrace(stateDir, run),
    bill: await readBill(join(stateDir, "world_bill.jsonl")),
    wallS: (performance.now() - startedAt) / 1000,
    kills,
  };
}

/** Runs a command while, from its first step on, every candidate refuses connections for some seconds. */
export async function runWithOutage(
  stateDir: string,
  words: readonly string[],
  seconds: number,
): Promise<Outcome> {
  const startedAt = performance.now();
  const train = startTrain(stateDir, words);
  await train.until(({ kind }) => kind === "train");
  const { world } = JSON.parse(await readFile(join(stateDir, "ports.json"), "utf8"));
  const response = await fetch(`http://127.0.0.1:${world}/admin/faults`, {
    method: "POST",
    body: JSON.stringify({ kind: "refuse", for_s: seconds }),
  });
  assert.equal(response.status, 200, await response.text());
  const waiting = await train.until(({ kind, state }) => kind === "status" && state === "waiting");
  assert.equal((waiting["waits"] as { kind: string }[])[0]!.kind, "unavailable");
  assert.equal(await train.exit, 0, train.stderr());
  return {
    trace: await readTrace(stateDir, nameOf(words)),
    bill: await readBill(join(stateDir, "world_bill.jsonl")),
    wallS: (performance.now() - startedAt) / 1000,
    // connections are cut as in a kill: two shards of a step, each with so many calls in flight at most
    kills: [{ afterS: 0, at: "the outage", inFlight: 2 * PoolConfig.parse({}).concurrency }],
  };
}

/** The run a command is about. */
function nameOf(words: readonly string[]): string {
  return words.find((word) => word.startsWith("run="))?.slice("run=".length) ?? words[0]!;
}

/** Instants of kills, in seconds after useful work resumed: at least 2, seeded. */
export function killTimes(seed: number, count: number, spreadS: number): number[] {
  const random = createRandom(seed, 0x6b696c6c);
  return Array.from({ length: count }, () => 2 + random.next() * spreadS);
}

/** Weights, metrics and the final table of two runs are the same, but for what is lost and the clocks. */
export function assertEqualRuns(a: Outcome, b: Outcome): void {
  assert.equal(a.trace.summary.weights_sha256, b.trace.summary.weights_sha256);
  assert.deepEqual(a.trace.metrics, b.trace.metrics);
  const { ledger: ledgerA, ...restA } = a.trace.summary;
  const { ledger: ledgerB, ...restB } = b.trace.summary;
  assert.deepEqual(restA, restB);
  assert.equal(ledgerA.calls, ledgerB.calls);
}

/** Nothing was paid twice by the other side's bill, and what was lost is what was in flight at the kills. */
export function assertPaidOnce({ trace, bill, kills }: Outcome): void {
  const { ledger } = trace.summary;
  assert.equal(ledger.repaid, 0);
  const again = bill.lines - bill.byKey.size;
  const inFlight = kills.reduce((sum, kill) => sum + kill.inFlight, 0);
  assert.ok(again <= ledger.lost, `${again} attempts were billed again, ${ledger.lost} were lost`);
  assert.ok(ledger.lost <= inFlight, `${ledger.lost} lost, ${inFlight} in flight at the kills`);
  // every completed call is on the bill, and the bill holds no call the ledger does not know
  assert.ok(bill.byKey.size >= ledger.calls && bill.lines <= ledger.calls + ledger.lost);
}
