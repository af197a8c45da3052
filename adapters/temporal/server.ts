/**
 * The embedded server: Temporal's development server with a file database, on loopback, kept alive
 * by a supervisor.
 * @module
 */

import { join } from "node:path";
import { InvalidConfigError } from "../../core/errors.ts";
import { logTail, type Supervisor } from "../processes/supervisor.ts";
import type { TemporalCli } from "./cli.ts";
import { connectTemporal } from "./connect.ts";
import { isFree, LOOPBACK, type ServerPorts } from "./ports.ts";
import { prepareNamespace } from "./prepare.ts";

const NAME = "temporal";
/** A start that ends this often will not succeed. */
const HOPELESS_EXITS = 3;

/**
 * WAL with `synchronous=NORMAL` loses nothing when the process dies; a power cut may lose the last
 * moments, which the run's own log and ledger give back.
 */
const PRAGMAS = ["journal_mode=WAL", "synchronous=NORMAL"];

/** Off by default; the first two are for operators, the last lets work go on 3 s after a kill. */
const DYNAMIC_CONFIG = {
  "frontend.WorkflowPauseEnabled": true,
  "matching.enableFairness": true,
  "history.defaultWorkflowTaskTimeout": "3s",
};

export interface TemporalServerOptions {
  readonly cli: TemporalCli;
  readonly stateDir: string;
  readonly ports: ServerPorts;
  readonly supervisor: Supervisor;
  readonly log: (message: string) => void;
  /** How long it may take until it answers, in ms; 60 s. */
  readonly waitMs?: number;
}

/** A server that answers; the supervisor stops it. */
export interface TemporalServer {
  readonly address: string;
  readonly uiUrl: string;
  /** Whether our search attributes exist; a run works without. */
  readonly searchAttributes: boolean;
}

/**
 * Starts the server and waits until it answers. Its log is `logs/temporal.log` of the state folder.
 * @throws {InvalidConfigError} when it does not start; the message has the end of its log.
 */
export async function startTemporalServer(options: TemporalServerOptions): Promise<TemporalServer> {
  const { cli, stateDir, ports: { port, uiPort }, supervisor, log, waitMs = 60_000 } = options;
  const logFile = join(stateDir, "logs", "temporal.log");
  const address = `${LOOPBACK}:${port}`;
  log(`starting Temporal on ${address}`);
  await supervisor.start({
    name: NAME,
    command: cli.path,
    args: startArguments(stateDir, { port, uiPort }),
    // The server is ours alone: what the environment says of other servers is not for it.
    env: { TEMPORAL_ADDRESS: undefined, TEMPORAL_NAMESPACE: undefined },
    logFile,
  });
  const deadline = performance.now() + waitMs;
  while (!(await answers(address, port))) {
    const exits = supervisor.exits(NAME);
    if (exits < HOPELESS_EXITS && performance.now() < deadline) {
      await new Promise((resolve) => setTimeout(resolve, 100));
      continue;
    }
    await supervisor.stop(NAME);
    const state = exits > 0 ? `it ended ${exits} times` : `no answer in ${waitMs / 1000} s`;
    throw new InvalidConfigError(
      `Cannot start Temporal: ${state}. Read ${logFile}; if its database is damaged, move ` +
        `temporal.db away: runs go on from their folders. It ends with:\n${logTail(logFile)}`,
    );
  }
  const searchAttributes = await prepareNamespace({
    address,
    namespace: "default",
    retention: true,
  }, log);
  return { address, uiUrl: `http://${LOOPBACK}:${uiPort}`, searchAttributes };
}

function startArguments(stateDir: string, { port, uiPort }: ServerPorts): string[] {
  const database = join(stateDir, "temporal.db");
  return [
    ...["server", "start-dev", "--db-filename", database, "--log-level", "warn"],
    ...["--ip", LOOPBACK, "--port", String(port)],
    ...["--ui-ip", LOOPBACK, "--ui-port", String(uiPort), "--ui-disable-news-fetch"],
    ...PRAGMAS.flatMap((pragma) => ["--sqlite-pragma", pragma]),
    ...Object.entries(DYNAMIC_CONFIG).flatMap(([key, value]) => [
      "--dynamic-config-value",
      `${key}=${JSON.stringify(value)}`,
    ]),
  ];
}

/** Whether the front end is up: a listening port first, since a refused connection is slow to tell. */
async function answers(address: string, port: number): Promise<boolean> {
  if (await isFree(port)) return false;
  try {
    const { connection } = await connectTemporal({ address, namespace: "default" });
    await connection.close();
    return true;
  } catch {
    return false;
  }
}
