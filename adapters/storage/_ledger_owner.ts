import { existsSync, mkdirSync, rmSync } from "node:fs";

/**
 * Who has attempts in flight: each open ledger holds the lock of a file of its own. The system frees the
 * lock when the process ends, however it ends, so a process id used again, a restarted machine or a
 * container of its own cannot pass for a living owner, and none needs a heartbeat.
 */
export interface Owner {
  readonly id: string;
  /** Ends the ownership; what the owner left open may be taken for lost from now on. */
  release(): void;
}

/** A new owner, alive until it is released or the process ends. */
export function claimOwner(ledgerPath: string): Owner {
  mkdirSync(`${ledgerPath}-owners`, { recursive: true });
  const id = crypto.randomUUID();
  const path = lockPath(ledgerPath, id);
  const file = Deno.openSync(path, { write: true, createNew: true });
  file.lockSync(true);
  return {
    id,
    release: () => {
      rmSync(path, { force: true });
      file.close();
    },
  };
}

/** Whether a registered owner is gone; what it leaves in the file system is removed then. */
export function ownerDied(ledgerPath: string, id: string): boolean {
  const path = lockPath(ledgerPath, id);
  if (!existsSync(path)) return true;
  using file = Deno.openSync(path, { write: true });
  if (!file.tryLockSync(true)) return false;
  rmSync(path, { force: true });
  return true;
}

function lockPath(ledgerPath: string, id: string): string {
  return `${ledgerPath}-owners/${id}`;
}
