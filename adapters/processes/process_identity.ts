/** Which process a number means: numbers are used again, a number with its start time is not. */

import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import process from "node:process";

/** Whether a process of this number lives, whoever it is. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/**
 * A text that no other process ever has: boot and start time on Linux, the start time to the second
 * elsewhere. Null when there is no such process.
 */
export function processIdentity(pid: number): string | null {
  if (process.platform === "linux") {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
      // The name, in parentheses, may hold anything: count from its end. State is field 3, start 22.
      const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      if (fields[0] === "Z" || fields[0] === "X") return null;
      const boot = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
      return `${boot}:${fields[19]}`;
    } catch {
      return null;
    }
  }
  try {
    const started = execFileSync("ps", ["-o", "lstart=", "-p", String(pid)], { encoding: "utf8" });
    return started.trim() || null;
  } catch {
    return null;
  }
}

/** A process as it was when it was ours. */
export interface OwnedProcess {
  readonly name: string;
  readonly pid: number;
  /** The process group it was started in. */
  readonly group: number;
  readonly identity: string;
}

/** Kills the process and its group, only if it is the very process that was recorded. */
export function killOwned({ pid, group, identity }: OwnedProcess): boolean {
  if (processIdentity(pid) !== identity) return false;
  return killGroup(group, "SIGKILL");
}

/** Signals every process of the group that `leader` leads; false when there is none left. */
export function killGroup(leader: number, signal: NodeJS.Signals): boolean {
  try {
    process.kill(-leader, signal);
    return true;
  } catch {
    return false;
  }
}
