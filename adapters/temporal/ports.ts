/** Ports on loopback: which are free, which are ours. */

import { createServer } from "node:net";
import { InvalidConfigError } from "../../core/errors.ts";
import type { Environment } from "../processes/tools_folder.ts";

export const LOOPBACK = "127.0.0.1";
const DEFAULT_PORT = 7233;
/** The page of the server lies this far above its port. */
const UI_OFFSET = 1000;
const TRIED_PAIRS = 100;

export interface ServerPorts {
  readonly port: number;
  readonly uiPort: number;
}

/** Whether a server can listen on the port; 0 asks for any and is always free. */
export function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once("error", () => resolve(false));
    probe.listen({ port, host: LOOPBACK }, () => probe.close(() => resolve(true)));
  });
}

/** A port nothing listens on now, for a server that is about to start. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once("error", reject);
    probe.listen({ port: 0, host: LOOPBACK }, () => {
      const address = probe.address();
      const port = typeof address === "object" && address ? address.port : 0;
      probe.close(() => resolve(port));
    });
  });
}

/**
 * `HOLDFAST_PORT` and `HOLDFAST_UI_PORT` exactly, where they are set; else the ports of last time,
 * 7233 and 8233, or the next pair that is free, which is said.
 * @throws {InvalidConfigError} when a port that was asked for is busy or is no port.
 */
export async function chooseServerPorts(
  env: Environment,
  { remembered, log }: { remembered?: ServerPorts; log: (message: string) => void },
): Promise<ServerPorts> {
  const port = portOf(env, "HOLDFAST_PORT");
  const uiPort = portOf(env, "HOLDFAST_UI_PORT");
  await Promise.all([
    requireFree(port, "HOLDFAST_PORT"),
    requireFree(uiPort, "HOLDFAST_UI_PORT"),
  ]);
  const first = port ?? remembered?.port ?? DEFAULT_PORT;
  for (let ahead = 0; ahead < TRIED_PAIRS; ahead++) {
    const pair = ahead === 0 && port === null && remembered
      ? { port: remembered.port, uiPort: uiPort ?? remembered.uiPort }
      : { port: port ?? first + ahead, uiPort: uiPort ?? first + ahead + UI_OFFSET };
    if (!(await isFree(pair.port)) || !(await isFree(pair.uiPort))) continue;
    if (ahead > 0) {
      log(`port ${first} or ${first + UI_OFFSET} is busy: using ${pair.port} and ${pair.uiPort}`);
    }
    return pair;
  }
  throw new InvalidConfigError(
    `Cannot start Temporal: no pair of ports from ${first} and ${first + UI_OFFSET} on is free. ` +
      `Set HOLDFAST_PORT and HOLDFAST_UI_PORT to free ones`,
  );
}

async function requireFree(port: number | null, name: string): Promise<void> {
  if (port === null || await isFree(port)) return;
  throw new InvalidConfigError(
    `Cannot start Temporal: port ${port} (${name}) is busy, perhaps held by another Holdfast or ` +
      `Temporal server. Set ${name} to a free port, unset it to have one chosen, or set ` +
      `TEMPORAL_ADDRESS to use that server`,
  );
}

function portOf(env: Environment, name: string): number | null {
  const text = env[name];
  if (!text) return null;
  const port = Number(text);
  if (Number.isInteger(port) && port > 0 && port < 65_536) return port;
  throw new InvalidConfigError(`Cannot use ${name}: "${text}" is not a port. Give 1 to 65535`);
}
