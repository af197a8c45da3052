/**
 * One owner for a state folder. The operating system holds the lock and drops it with its process,
 * however that ends; `owner.json` beside it says how to reach the owner and what it started.
 * @module
 */

import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import process from "node:process";
import { FencedError, InvalidConfigError } from "../../core/errors.ts";
import { isAlive, killOwned, type OwnedProcess, processIdentity } from "./process_identity.ts";
import { canKeep, type Environment } from "./tools_folder.ts";

/** How a client reaches what the owner runs. */
export interface Endpoint {
  readonly address: string;
  readonly namespace: string;
  /** Null where the server is not ours. */
  readonly uiUrl: string | null;
  /** Null where no local answerers run. */
  readonly worldUrl: string | null;
}

interface OwnerFile {
  readonly pid: number;
  /** Null while the owner is still starting. */
  readonly endpoint: Endpoint | null;
  readonly children: readonly OwnedProcess[];
}

/** Ours to run: `publish` what runs, `release` at the end. */
export interface OwnedState {
  readonly owned: true;
  /** Tells clients how to reach us. */
  publish(endpoint: Endpoint): void;
  /** Tells a successor what to end should we die; fits `SupervisorOptions.onChange`. */
  record(children: readonly OwnedProcess[]): void;
  /** Gives the folder back. Stop the children first. */
  release(): void;
}

/** Another living process runs it. */
export interface ForeignState {
  readonly owned: false;
  readonly pid: number;
  readonly endpoint: Endpoint;
}

/**
 * `HOLDFAST_STATE`, else `.holdfast` of the project; made when missing.
 * @throws {InvalidConfigError} when it cannot be written.
 */
export function stateFolder(env: Environment, projectDir: string): string {
  const folder = resolve(env.HOLDFAST_STATE || join(projectDir, ".holdfast"));
  if (canKeep(folder)) return folder;
  throw new InvalidConfigError(
    `Cannot keep state: "${folder}" cannot be written. Set HOLDFAST_STATE to a folder that can`,
  );
}

/**
 * Takes the folder, ending what a dead owner left running; or, when its owner lives, waits until
 * that says how to reach it.
 * @throws {FencedError} when the owner lives but does not get ready in `waitMs` (60 s).
 */
export async function claimState(
  stateDir: string,
  { log, waitMs = 60_000 }: { log: (message: string) => void; waitMs?: number },
): Promise<OwnedState | ForeignState> {
  const deadline = performance.now() + waitMs;
  const lock = await Deno.open(join(stateDir, "owner.lock"), { create: true, write: true });
  while (!(await lock.tryLock(true))) {
    const owner = readOwner(stateDir);
    if (owner?.endpoint && isAlive(owner.pid)) { // not what a dead one wrote
      lock.close();
      return { owned: false, pid: owner.pid, endpoint: owner.endpoint };
    }
    if (performance.now() > deadline) {
      lock.close();
      throw new FencedError(
        `Cannot use "${stateDir}": process ${owner?.pid ?? "unknown"} owns it and is not ready. ` +
          `Stop it, or set HOLDFAST_STATE to another folder`,
      );
    }
    await pause(100);
  }
  for (const child of readOwner(stateDir)?.children ?? []) {
    if (!killOwned(child)) continue;
    log(`ended ${child.name} (pid ${child.pid}), left by a killed run`);
    // Its ports and files are free only once it is gone.
    while (processIdentity(child.pid) === child.identity) await pause(20);
  }
  return own(stateDir, lock);
}

function own(stateDir: string, lock: Deno.FsFile): OwnedState {
  let state: OwnerFile = { pid: process.pid, endpoint: null, children: [] };
  const write = (change: Partial<OwnerFile>) => {
    state = { ...state, ...change };
    const file = join(stateDir, "owner.json");
    writeFileSync(`${file}.new`, JSON.stringify(state, null, 2));
    renameSync(`${file}.new`, file);
  };
  write({});
  return {
    owned: true,
    publish: (endpoint) => write({ endpoint }),
    record: (children) => write({ children }),
    release: () => {
      write({ endpoint: null, children: [] });
      lock.close();
    },
  };
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Null when there is none, or a crash of the machine left it unreadable. */
function readOwner(stateDir: string): OwnerFile | null {
  try {
    return JSON.parse(readFileSync(join(stateDir, "owner.json"), "utf8")) as OwnerFile;
  } catch {
    return null;
  }
}
