/** The command lines of our own processes beside the server. */

import { join } from "node:path";
import process from "node:process";
import { logTail, type Supervisor } from "../adapters/processes/supervisor.ts";
import { freePort, isFree, LOOPBACK } from "../adapters/temporal/ports.ts";
import { readPorts, writePorts } from "./_ports.ts";

const WORLD = "world";
const READY_MS = 60_000;
/** Longer than the worker lets its activities go on after SIGTERM. */
const WORKER_GRACE_MS = 20_000;

interface Place {
  readonly stateDir: string;
  readonly project: string;
}

/**
 * Starts the local answerers, on the port of last time where it is free; resolves with their address
 * once they listen.
 */
export async function startWorldServer(
  supervisor: Supervisor,
  { stateDir, project }: Place,
): Promise<string> {
  const last = readPorts(stateDir).world;
  const port = last !== undefined && await isFree(last) ? last : await freePort();
  writePorts(stateDir, { world: port });
  const logFile = join(stateDir, "logs", "world.log");
  const bill = join(stateDir, "world_bill.jsonl");
  await supervisor.start({
    name: WORLD,
    command: process.execPath,
    args: main(project, "answerers.ts", ["--port", String(port), "--bill", bill]),
    logFile,
  });
  const deadline = performance.now() + READY_MS;
  while (await isFree(port)) {
    if (performance.now() > deadline) {
      throw new Error(`Cannot start the answerers: port ${port} is silent\n${logTail(logFile)}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return `http://${LOOPBACK}:${port}`;
}

export interface WorkerPlace extends Place {
  readonly address: string;
  readonly worldUrl: string;
  readonly searchAttributes: boolean;
}

/** Starts the worker; it connects by itself. */
export async function startWorker(supervisor: Supervisor, place: WorkerPlace): Promise<void> {
  const { stateDir, project, address, worldUrl, searchAttributes } = place;
  const options = ["--state", stateDir, "--address", address, "--world-url", worldUrl];
  if (!searchAttributes) options.push("--no-search-attributes");
  await supervisor.start({
    name: "worker",
    command: process.execPath,
    args: main(project, "worker.ts", options),
    logFile: join(stateDir, "logs", "worker.log"),
    graceMs: WORKER_GRACE_MS,
  });
}

function main(project: string, file: string, options: readonly string[]): string[] {
  return ["run", "--quiet", "--allow-all", join(project, "workers", file), ...options];
}
