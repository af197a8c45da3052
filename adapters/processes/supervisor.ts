/**
 * Child processes that are kept alive, and never outlive us.
 *
 * Each child runs under a guard, a few lines of POSIX shell that lead its process group: the guard
 * holds the read end of a pipe from us, so when we die in any way, SIGKILL included, it stops the
 * group. When the guard itself is killed, the supervisor ends what is left of the group.
 * @module
 */

import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, mkdirSync, openSync, readFileSync, renameSync, statSync } from "node:fs";
import { dirname } from "node:path";
import process from "node:process";
import { createInterface } from "node:readline";
import { killGroup, type OwnedProcess, processIdentity } from "./process_identity.ts";

/** Prints the pid of its command, ends with the command's status, stops the group after our death. */
const GUARD = `
trap : TERM INT HUP
exec 3<&0
"$@" </dev/null >&2 3<&- &
pid=$!
echo "$pid"
(
  trap '' TERM INT HUP
  while read -r _ <&3; do :; done
  kill -TERM 0
  sleep 5
  kill -KILL 0
) >/dev/null &
watch=$!
while :; do
  wait "$pid"
  status=$?
  kill -0 "$pid" 2>/dev/null || break
done
kill -KILL "$watch"
exit "$status"
`;

const FIRST_DELAY_MS = 200;
const LONGEST_DELAY_MS = 5_000;
/** A child that lived this long is healthy: its next restart is quick again. */
const HEALTHY_MS = 10_000;
const LARGEST_LOG_BYTES = 16 * 1024 * 1024;

/** A process to keep alive. */
export interface ChildSpec {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  /** Added to our own environment; undefined removes a variable. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly cwd?: string;
  /** stdout and stderr are appended here. */
  readonly logFile: string;
  /** How long it may take to end after SIGTERM before it is killed, in ms. */
  readonly graceMs?: number;
}

export interface SupervisorOptions {
  readonly log: (message: string) => void;
  /** Told the living processes after every start, so that a successor can find them. */
  readonly onChange?: (living: readonly OwnedProcess[]) => void;
}

interface Child {
  readonly spec: ChildSpec;
  guard: ChildProcess | null;
  owned: OwnedProcess | null;
  exits: number;
  delayMs: number;
  timer: ReturnType<typeof setTimeout> | null;
  stopping: boolean;
  /** Resolves when the present process has ended. */
  ended: Promise<void>;
}

/** Starts named children, restarts those that die, stops them all in reverse order. */
export class Supervisor {
  readonly #options: SupervisorOptions;
  readonly #children = new Map<string, Child>();

  constructor(options: SupervisorOptions) {
    this.#options = options;
  }

  /**
   * Starts a child; resolves once it runs.
   * @throws {Error} when a child of this name exists or the command cannot be started.
   */
  async start(spec: ChildSpec): Promise<void> {
    if (this.#children.has(spec.name)) {
      throw new Error(`Cannot start "${spec.name}": it is started already`);
    }
    const child: Child = {
      spec,
      guard: null,
      owned: null,
      exits: 0,
      delayMs: FIRST_DELAY_MS,
      timer: null,
      stopping: false,
      ended: Promise.resolve(),
    };
    this.#children.set(spec.name, child);
    await this.#spawn(child);
  }

  /** The number of the process that runs the command; null while it is down. */
  pid(name: string): number | null {
    return this.#children.get(name)?.owned?.pid ?? null;
  }

  /** How often the child has ended since it was started. */
  exits(name: string): number {
    return this.#children.get(name)?.exits ?? 0;
  }

  /** Stops one child: SIGTERM, the grace time, SIGKILL. Safe to repeat. */
  async stop(name: string): Promise<void> {
    const child = this.#children.get(name);
    if (!child) return;
    child.stopping = true;
    if (child.timer) clearTimeout(child.timer);
    const leader = child.guard?.pid;
    if (leader !== undefined) {
      const force = setTimeout(() => {
        this.#options.log(`${name} did not stop in ${child.spec.graceMs ?? 10_000} ms: killing it`);
        killGroup(leader, "SIGKILL");
      }, child.spec.graceMs ?? 10_000);
      killGroup(leader, "SIGTERM");
      await child.ended;
      clearTimeout(force);
    }
    this.#children.delete(name);
  }

  /** Stops all children, the last started first. */
  async stopAll(): Promise<void> {
    for (const name of [...this.#children.keys()].reverse()) await this.stop(name);
  }

  async #spawn(child: Child): Promise<void> {
    const { spec } = child;
    const logFile = openLog(spec.logFile);
    const guard = spawn("/bin/sh", ["-c", GUARD, "guard", spec.command, ...spec.args], {
      detached: true,
      env: { ...process.env, ...spec.env },
      stdio: ["pipe", "pipe", logFile],
      ...(spec.cwd === undefined ? {} : { cwd: spec.cwd }),
    });
    closeSync(logFile);
    const startedAt = performance.now();
    child.guard = guard;
    child.ended = new Promise((resolve) => {
      const end = (reason: string) => {
        if (child.guard !== guard) return;
        child.guard = null;
        child.owned = null;
        child.exits++;
        if (guard.pid !== undefined) killGroup(guard.pid, "SIGKILL");
        resolve();
        if (!child.stopping) this.#restartLater(child, reason, performance.now() - startedAt);
      };
      guard.on("error", (error) => end(error.message));
      guard.on("exit", (code, signal) => end(signal ?? `code ${code}`));
    });
    const pid = Number(await firstLine(guard));
    const identity = pid > 0 ? processIdentity(pid) : null;
    if (identity !== null && guard.pid !== undefined && child.guard === guard) {
      child.owned = { name: spec.name, pid, group: guard.pid, identity };
    }
    const all = [...this.#children.values()];
    try {
      this.#options.onChange?.(all.flatMap(({ owned }) => owned ? [owned] : []));
    } catch (error) { // a full disk: the children matter more than the note of them
      this.#options.log(`cannot note what runs: ${(error as Error).message}`);
    }
  }

  #restartLater(child: Child, reason: string, livedMs: number): void {
    if (livedMs >= HEALTHY_MS) child.delayMs = FIRST_DELAY_MS;
    const { name, logFile } = child.spec;
    this.#options.log(
      `${name} ended (${reason}): starting it again in ${child.delayMs} ms; see ${logFile}`,
    );
    child.timer = setTimeout(() => {
      this.#spawn(child).catch((error: Error) => { // its log cannot be opened
        if (!child.stopping) this.#restartLater(child, error.message, 0);
      });
    }, child.delayMs);
    child.delayMs = Math.min(LONGEST_DELAY_MS, child.delayMs * 2);
  }
}

/**
 * For our own mains: ends this process soon after its parent is gone, also when guard and supervisor
 * were killed together and nobody is left to stop it.
 */
export function exitWithParent(): void {
  const parent = process.ppid;
  const watch = setInterval(() => {
    if (process.ppid !== parent) process.exit(1);
  }, 500);
  watch.unref();
}

/** The last lines of a log file, for a message; empty when there is none. */
export function logTail(file: string, lines = 3): string {
  try {
    return readFileSync(file, "utf8").trimEnd().split("\n").slice(-lines).join("\n");
  } catch {
    return "";
  }
}

function openLog(file: string): number {
  mkdirSync(dirname(file), { recursive: true });
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  if (size > LARGEST_LOG_BYTES) renameSync(file, `${file}.1`);
  return openSync(file, "a");
}

/** The first line of the guard's stdout; null when it ends without one. */
function firstLine({ stdout }: ChildProcess): Promise<string | null> {
  return new Promise((resolve) => {
    if (!stdout) return resolve(null);
    const reader = createInterface({ input: stdout });
    reader.once("line", resolve);
    reader.once("close", () => resolve(null));
  });
}
