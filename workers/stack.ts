/**
 * What a run needs around it: a Temporal server, the local answerers, the worker. One process owns
 * them per state folder; the next one attaches to it as a client.
 * @module
 */

import { dirname } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { WorkflowNotFoundError } from "@temporalio/client";
import {
  claimState,
  type Endpoint,
  type OwnedState,
  stateFolder,
} from "../adapters/processes/state_lock.ts";
import { Supervisor } from "../adapters/processes/supervisor.ts";
import { toolsFolder } from "../adapters/processes/tools_folder.ts";
import { findTemporalCli } from "../adapters/temporal/cli.ts";
import { connectTemporal, externalServer } from "../adapters/temporal/connect.ts";
import { chooseServerPorts } from "../adapters/temporal/ports.ts";
import { prepareNamespace } from "../adapters/temporal/prepare.ts";
import { startTemporalServer } from "../adapters/temporal/server.ts";
import { readPorts, writePorts } from "./_ports.ts";
import { startWorker, startWorldServer } from "./_children.ts";

const PROJECT = dirname(dirname(fileURLToPath(import.meta.url)));

/** Everything is up; `stop` ends what we started and leaves what others own. */
export interface Stack extends Endpoint {
  /** Another process owns server and workers: they end with it, not with us. */
  readonly attached: boolean;
  stop(): Promise<void>;
}

export interface StackOptions {
  readonly stateDir: string;
  /** Told of every wait and every restart. */
  readonly say: (message: string) => void;
}

/**
 * `HOLDFAST_STATE`, else `.holdfast` of the project.
 * @throws {InvalidConfigError} when it cannot be written.
 */
export function stateDirectory(): Promise<string> {
  return Promise.resolve().then(() => stateFolder(process.env, PROJECT));
}

/**
 * Starts server, answerers and worker, or attaches to the process that has started them. The server
 * that `TEMPORAL_ADDRESS` names is used instead of one of ours.
 * @throws {EngineError} when something is missing or in the way; nothing is left running then.
 */
export async function startStack({ stateDir, say }: StackOptions): Promise<Stack> {
  const state = await claimState(stateDir, { log: say });
  if (!state.owned) {
    say(`attached to process ${state.pid}, which runs server and workers of ${stateDir}`);
    return { ...state.endpoint, attached: true, stop: () => Promise.resolve() };
  }
  const { supervisor, stop } = supervise(state, say);
  try {
    const server = await startServer(supervisor, { stateDir, say });
    const worldUrl = await startWorldServer(supervisor, { stateDir, project: PROJECT });
    const { searchAttributes, ...reach } = server;
    await startWorker(supervisor, {
      stateDir,
      project: PROJECT,
      address: server.address,
      worldUrl,
      searchAttributes,
    });
    const endpoint = { ...reach, worldUrl };
    state.publish(endpoint);
    return { ...endpoint, attached: false, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** How long a run that is deleted may take until its activities have ended. */
const CANCEL_MS = 60_000;

/**
 * Ends the run's workflow, so that it is not taken up again; does nothing when there is none. Where
 * another process works on it, its activities have ended then. Starts the server where none runs.
 */
export async function stopRun(stateDir: string, run: string): Promise<void> {
  const say = () => {};
  const state = await claimState(stateDir, { log: say });
  if (!state.owned) return await end(state.endpoint, run, { atWork: true });
  const { supervisor, stop } = supervise(state, say);
  try {
    await end(await startServer(supervisor, { stateDir, say }), run, { atWork: false });
  } finally {
    await stop();
  }
}

async function end(
  server: Pick<Endpoint, "address" | "namespace">,
  run: string,
  { atWork }: { atWork: boolean },
) {
  const { client, connection } = await connectTemporal(server);
  try {
    const handle = client.workflow.getHandle(run);
    if (atWork) { // a cancelled workflow waits for its activities: none writes after the deletion
      await handle.cancel();
      const late = new Promise<void>((resolve) => setTimeout(resolve, CANCEL_MS));
      await Promise.race([handle.result().then(() => {}, () => {}), late]);
    }
    await handle.terminate("the run is deleted");
  } catch (error) {
    if (!(error instanceof WorkflowNotFoundError)) throw error; // not found: already ended, too
  } finally {
    await connection.close();
  }
}

function supervise(state: OwnedState, say: (message: string) => void) {
  const supervisor = new Supervisor({ log: say, onChange: state.record });
  const stop = async () => {
    await supervisor.stopAll();
    state.release();
  };
  return { supervisor, stop };
}

/** The server the environment names, prepared; else one of ours. */
async function startServer(supervisor: Supervisor, { stateDir, say: log }: StackOptions) {
  const external = externalServer();
  if (external) {
    log(`using the Temporal server at ${external.address}`);
    const searchAttributes = await prepareNamespace({ ...external, retention: false }, log);
    return { ...external, uiUrl: null, searchAttributes };
  }
  const env = process.env;
  const cli = await findTemporalCli({ env, toolsDir: toolsFolder(env, PROJECT), log });
  const remembered = readPorts(stateDir).temporal;
  const ports = await chooseServerPorts(env, { log, ...(remembered ? { remembered } : {}) });
  writePorts(stateDir, { temporal: ports });
  const server = await startTemporalServer({ cli, stateDir, ports, supervisor, log });
  return { ...server, namespace: "default" };
}
