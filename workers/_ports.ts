import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ServerPorts } from "../adapters/temporal/ports.ts";

/** The ports of last time: addresses that people and clients have noted stay true over a restart. */
export interface RememberedPorts {
  readonly temporal?: ServerPorts;
  readonly world?: number;
}

/** What `ports.json` of the state folder says; empty when it is missing or damaged. */
export function readPorts(stateDir: string): RememberedPorts {
  try {
    return JSON.parse(readFileSync(join(stateDir, "ports.json"), "utf8")) as RememberedPorts;
  } catch {
    return {};
  }
}

/** Adds to what is remembered. */
export function writePorts(stateDir: string, ports: RememberedPorts): void {
  const file = join(stateDir, "ports.json");
  writeFileSync(`${file}.new`, JSON.stringify({ ...readPorts(stateDir), ...ports }));
  renameSync(`${file}.new`, file);
}
