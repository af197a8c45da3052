/**
 * `deno task train [PRESET] [key=value …]`: starts what a run needs, starts or continues the run, shows
 * it until its end.
 * @module
 */
import * as fs from "node:fs/promises";
import process from "node:process";
import {
  type Client,
  WorkflowExecutionAlreadyStartedError,
  WorkflowFailedError,
  type WorkflowHandle,
  WorkflowIdConflictPolicy,
} from "@temporalio/client";
import { ApplicationFailure, CancelledFailure, TerminatedFailure } from "@temporalio/common";
import { InvalidConfigError } from "../core/errors.ts";
import type { RunSummary } from "../core/plan/run.ts";
import type { RunStatus } from "../workflows/_board.ts";
import type { trainRouter } from "../workflows/train_router.ts";
import { connectTemporal } from "../adapters/temporal/connect.ts";
import { parseTaskOptions, runTask, type TaskOptions } from "./_options.ts";
import { createRunConfigs, type RunConfigs } from "./_run_configs.ts";
import { createJsonView, createTerminalView, type MetricsLine, type RunView } from "./_view.ts";
import { startStack, stateDirectory } from "./stack.ts";

/** Pause between two looks at the run. */
const LOOK_MS = 500;

async function main(): Promise<void> {
  const options = parseTaskOptions(process.argv.slice(2));
  const stateDir = await stateDirectory();
  const configs = createRunConfigs(stateDir);
  const preset = options.preset ?? "quickstart";
  const run = options.run ?? preset;
  const { config, adopted } = await configs.preview(run, preset, options.overrides);
  if (options.dryRun) {
    process.stdout.write(JSON.stringify({ run, preset, config }, null, 2) + "\n");
    return;
  }
  const view = options.json ? createJsonView() : createTerminalView();
  const finished = await configs.summary(run);
  if (finished !== null && finished.step >= config.trainer.total_training_steps) {
    view.say(`Run "${run}" is already complete; another one: run=NAME trainer.seed=2`);
    view.summary({ ...finished, wall_s: seconds(performance.now()) });
    return;
  }
  await configs.checkHardware(run, options.acceptHardware);
  await configs.begin(run, preset, options.overrides);
  for (const key of adopted) view.say(`Takes up ${key}`);
  await follow({ run, preset, options, stateDir, configs, view });
}

/** Since this process started. */
const seconds = (ms: number) => Math.round(ms / 100) / 10;

async function follow(
  { run, preset, options, stateDir, configs, view }: {
    run: string;
    preset: string;
    options: TaskOptions;
    stateDir: string;
    configs: RunConfigs;
    view: RunView;
  },
): Promise<void> {
  const stack = await startStack({ stateDir, say: view.say });
  let interrupted = false;
  const interrupt = () => {
    interrupted = true;
  };
  Deno.addSignalListener("SIGINT", interrupt);
  Deno.addSignalListener("SIGTERM", interrupt);
  process.stdout.on("error", interrupt); // `train | head`: nobody reads on
  try {
    if (stack.uiUrl !== null) {
      const page = `namespaces/${stack.namespace}/workflows/${encodeURIComponent(run)}`;
      view.say(`Temporal UI: ${stack.uiUrl}/${page}`);
    }
    const { client, connection } = await connectTemporal(stack);
    const handle = await startRun(client, run, preset, options.overrides);
    const summary = await watch({ handle, client, configs, run, view, stopped: () => interrupted });
    void connection.close().catch(() => undefined); // a wait for the run's end may still be open
    if (summary === null) {
      const words = ["./holdfast train", preset, ...(run === preset ? [] : [`run=${run}`])];
      view.say(`Stopped; nothing is lost. Go on with: ${words.join(" ")}`);
    } else view.summary({ ...summary, wall_s: seconds(performance.now()) });
  } finally {
    view.close();
    await stack.stop();
    Deno.removeSignalListener("SIGINT", interrupt);
    Deno.removeSignalListener("SIGTERM", interrupt);
  }
}

/** Starts the run's workflow, or finds the one that works on it, and wakes it in case it is parked. */
async function startRun(
  client: Client,
  run: string,
  preset: string,
  overrides: readonly string[],
): Promise<WorkflowHandle<typeof trainRouter>> {
  try {
    return await client.workflow.start<typeof trainRouter>("trainRouter", {
      taskQueue: "holdfast",
      workflowId: run,
      workflowIdConflictPolicy: WorkflowIdConflictPolicy.FAIL,
      args: [{ preset, run, overrides }],
      staticSummary: `Train a router: preset ${preset}`,
    });
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    const handle = client.workflow.getHandle<typeof trainRouter>(run);
    await handle.signal("resume");
    return handle;
  }
}

/** Looks at the run until it ends (its summary) or the user stops (null). */
async function watch(
  { handle, client, configs, run, view, stopped }: {
    handle: WorkflowHandle<typeof trainRouter>;
    client: Client;
    configs: RunConfigs;
    run: string;
    view: RunView;
    stopped: () => boolean;
  },
): Promise<RunSummary | null> {
  let ended: { status: RunStatus } | { error: unknown } | null = null;
  const attend = (to: WorkflowHandle<typeof trainRouter>) =>
    void to.result().then((status) => ended = { status }, (error) => ended = { error });
  attend(handle);
  const lines = createTail(configs.metricsFile(run));
  while (!stopped()) {
    for (const line of await lines.next()) view.metrics(line);
    if (ended !== null) {
      const outcome = ended as { status: RunStatus } | { error: unknown };
      if ("error" in outcome) {
        const now = client.workflow.getHandle<typeof trainRouter>(run);
        if (endedBy(outcome.error) !== "terminated" || !await runs(now)) {
          throw toEngineError(outcome.error);
        }
        view.say("The run's workflow was reset; following the new one");
        ended = null;
        attend(now);
        continue;
      }
      view.status(outcome.status, null);
      if (outcome.status.state === "stopped") return null;
      return await configs.summary(run);
    }
    const status = await client.workflow.getHandle(run).query<RunStatus, []>("status")
      .catch(() => null); // a server being restarted
    if (status !== null) view.status(status, await detailOf(client, run, status));
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
  return null;
}

/** Whether the workflow is under way: a reset begins it anew under the same id. */
async function runs(handle: WorkflowHandle<typeof trainRouter>): Promise<boolean> {
  const described = await handle.describe().catch(() => null);
  return described?.status.name === "RUNNING";
}

/** What the warm start says of itself in its heartbeat. */
async function detailOf(client: Client, run: string, status: RunStatus): Promise<string | null> {
  if (status.state !== "warm start") return null;
  const described = await client.workflow.getHandle(`${run}/warm-start`).describe()
    .catch(() => null); // not started yet
  const beats =
    described?.raw.pendingActivities?.flatMap((activity) =>
      activity.heartbeatDetails?.payloads ?? []
    ) ?? [];
  const text = beats.map((payload) => new TextDecoder().decode(payload.data ?? undefined)).at(-1);
  return text === undefined ? null : String(JSON.parse(text));
}

/** The failure inside a failed run, as one sentence. */
function toEngineError(error: unknown): unknown {
  let cause: unknown = error;
  while (cause instanceof Error && !(cause instanceof ApplicationFailure)) cause = cause.cause;
  if (error instanceof WorkflowFailedError && cause instanceof ApplicationFailure) {
    return new InvalidConfigError(cause.message, { cause: error });
  }
  if (cause instanceof ApplicationFailure) return error;
  const ended = endedBy(error);
  if (ended === null) return error;
  return new InvalidConfigError(
    `The run's workflow was ${ended} by somebody else; nothing is lost. The same command goes on from there`,
    { cause: error },
  );
}

/** How somebody has ended a workflow from outside; null when nobody did. */
function endedBy(error: unknown): "terminated" | "cancelled" | null {
  let at: unknown = error;
  while (at instanceof Error) {
    if (at instanceof TerminatedFailure) return "terminated";
    if (at instanceof CancelledFailure) return "cancelled";
    at = at.cause;
  }
  return null;
}

/** New lines of a JSON-lines file since the last look; a line without its end waits for the next. */
function createTail(file: string): { next(): Promise<MetricsLine[]> } {
  let seen = 0;
  return {
    next: async () => {
      const text = await fs.readFile(file, "utf8").catch(() => "");
      const whole = text.slice(seen, text.lastIndexOf("\n") + 1);
      seen += whole.length;
      return whole.split("\n").filter((line) => line !== "").map((line) => JSON.parse(line));
    },
  };
}

await runTask(main);
