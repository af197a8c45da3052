import * as fs from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type ChildProcess, spawn } from "node:child_process";
import type { RunSummary } from "../../core/plan/run.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** A wait that takes longer has gone wrong. */
const PATIENCE_MS = 10 * 60 * 1000;

/** One `train` command as a user would start it, with its whole process tree. */
export interface TrainProcess {
  readonly child: ChildProcess;
  /** Resolves with the exit code, null when it was killed. */
  readonly exit: Promise<number | null>;
  /** JSON lines of stdout so far. */
  lines(): Record<string, unknown>[];
  stdout(): string;
  stderr(): string;
  /** Every living process of the tree, the Temporal server included. */
  tree(): Promise<number[]>;
  /** kill -9 of the whole tree at once. */
  kill(): Promise<void>;
  /** The wait until a line satisfies the condition; throws when the process ends first. */
  until(condition: (line: Record<string, unknown>) => boolean): Promise<Record<string, unknown>>;
}

/** Starts `train` with the given words on a state folder; stdout is JSON lines. */
export function startTrain(stateDir: string, words: readonly string[]): TrainProcess {
  const child = spawn(Deno.execPath(), ["run", "-A", "workers/train.ts", "--json", ...words], {
    cwd: ROOT,
    env: { ...Deno.env.toObject(), HOLDFAST_STATE: stateDir },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let out = "";
  let err = "";
  child.stdout.on("data", (chunk) => out += chunk);
  child.stderr.on("data", (chunk) => err += chunk);
  let ended = false;
  const stuck = setTimeout(() => child.kill("SIGTERM"), 2 * PATIENCE_MS);
  const exit = new Promise<number | null>((resolve) =>
    child.on("close", (code) => {
      ended = true;
      clearTimeout(stuck);
      resolve(code);
    })
  );
  const lines = () =>
    out.slice(0, out.lastIndexOf("\n") + 1).split("\n").filter((line) => line !== "")
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  const tree = () => processTree(child.pid!, stateDir);
  return {
    child,
    exit,
    lines,
    stdout: () => out,
    stderr: () => err,
    tree,
    kill: async () => {
      const pids = await tree();
      for (const pid of pids) {
        try {
          Deno.kill(pid, "SIGKILL");
        } catch { /* it ended by itself */ }
      }
      await exit;
      while ((await Promise.all(pids.map(isRunning))).some(Boolean)) {
        await new Promise((resolve) => setTimeout(resolve, 20)); // what it held is free once it is gone
      }
    },
    until: async (condition) => {
      const deadline = performance.now() + PATIENCE_MS;
      while (true) {
        const found = lines().find(condition);
        if (found !== undefined) return found;
        if (ended) throw new Error(`train ended before the awaited line:\n${err}`);
        if (performance.now() > deadline) {
          child.kill("SIGTERM");
          throw new Error(`train did not write the awaited line:\n${out.slice(-2000)}\n${err}`);
        }
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    },
  };
}

/** Whether a process has not ended yet; one that only waits to be reaped has. */
async function isRunning(pid: number): Promise<boolean> {
  const stat = await fs.readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
  return stat !== "" && !/\) [ZX] /.test(stat);
}

/** A process, its descendants, and whatever else has the state folder in its command line. */
async function processTree(root: number, stateDir: string): Promise<number[]> {
  const parents = new Map<number, number>();
  const tree = new Set([root]);
  for (const entry of await fs.readdir("/proc")) {
    const pid = Number(entry);
    if (!Number.isInteger(pid)) continue;
    try {
      const stat = await fs.readFile(`/proc/${pid}/stat`, "utf8");
      parents.set(pid, Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]));
      const command = await fs.readFile(`/proc/${pid}/cmdline`, "utf8");
      if (command.includes(stateDir)) tree.add(pid);
    } catch { /* it ended while we looked */ }
  }
  for (let grown = true; grown;) {
    grown = false;
    for (const [pid, parent] of parents) {
      if (tree.has(parent) && !tree.has(pid)) {
        tree.add(pid);
        grown = true;
      }
    }
  }
  tree.delete(Deno.pid);
  return [...tree];
}

/** What two runs must have in common to be called equal. */
export interface RunTrace {
  readonly summary: RunSummary;
  /** `metrics.jsonl` without clocks. */
  readonly metrics: readonly Record<string, unknown>[];
}

/** Reads a finished run's trace from its folder. */
export async function readTrace(stateDir: string, run: string): Promise<RunTrace> {
  const folder = join(stateDir, "runs", run);
  const summary = JSON.parse(await fs.readFile(join(folder, "summary.json"), "utf8"));
  const text = await fs.readFile(join(folder, "metrics.jsonl"), "utf8");
  const metrics = text.trimEnd().split("\n").map((line) => {
    const entries = Object.entries(JSON.parse(line));
    return Object.fromEntries(entries.filter(([key]) => !/^(timing_s|perf)\//.test(key)));
  });
  return { summary, metrics };
}

/** The candidate server's own count of what it was asked, from its bill. */
export interface Bill {
  readonly lines: number;
  readonly costPico: number;
  /** Times each request was billed, by its Idempotency-Key. */
  readonly byKey: ReadonlyMap<string, number>;
}

export async function readBill(file: string): Promise<Bill> {
  const text = await fs.readFile(file, "utf8");
  const byKey = new Map<string, number>();
  let costPico = 0;
  const rows = text.split("\n").filter((line) => line.startsWith("{") && line.endsWith("}"));
  for (const row of rows) {
    const { attempt, cost_pico } = JSON.parse(row);
    byKey.set(attempt, (byKey.get(attempt) ?? 0) + 1);
    costPico += cost_pico;
  }
  return { lines: rows.length, costPico, byKey };
}
