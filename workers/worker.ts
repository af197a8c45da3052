/**
 * The worker process: serves the workflows and every activity queue of one machine.
 * Arguments: --state DIR --address HOST:PORT --world-url URL [--no-search-attributes].
 * @module
 */
import * as os from "node:os";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { bundleWorkflowCode, Runtime, Worker } from "@temporalio/worker";
import pino from "pino";
import { createCandidateActivities } from "../activities/calls.ts";
import { namingFailures } from "../activities/failures.ts";
import { createPolicyActivities } from "../activities/policy.ts";
import { createRunActivities } from "../activities/runs.ts";
import { connectTemporal } from "../adapters/temporal/connect.ts";
import { exitWithParent } from "../adapters/processes/supervisor.ts";
import { createPorts } from "./_activity_ports.ts";

const { values } = parseArgs({
  options: {
    state: { type: "string" },
    address: { type: "string" },
    "world-url": { type: "string" },
    "no-search-attributes": { type: "boolean", default: false },
  },
});
exitWithParent();

const logger = pino(
  { level: "info", serializers: { error: pino.stdSerializers.err } },
  pino.destination(2),
);
Runtime.install({
  shutdownSignals: [],
  logger: {
    log: (level, message, meta) => logger[levelOf(level)](meta ?? {}, message),
    trace: (message, meta) => logger.trace(meta ?? {}, message),
    debug: (message, meta) => logger.debug(meta ?? {}, message),
    info: (message, meta) => logger.info(meta ?? {}, message),
    warn: (message, meta) => logger.warn(meta ?? {}, message),
    error: (message, meta) => logger.error(meta ?? {}, message),
  },
});

const ports = createPorts({
  stateDir: values.state!,
  worldUrl: values["world-url"]!,
  searchAttributes: !values["no-search-attributes"],
});

const { connection, namespace } = await connectTemporal({ address: values.address! });
const workflowBundle = await bundleWorkflowCode({
  workflowsPath: fileURLToPath(new URL("../workflows/mod.ts", import.meta.url)),
});
const common = {
  connection,
  namespace,
  identity: `${os.hostname()}/cpu/${process.pid}`,
  maxHeartbeatThrottleInterval: "1 second",
  shutdownGraceTime: "10 seconds",
} as const;
const runs = namingFailures(createRunActivities(ports));
const policy = namingFailures(createPolicyActivities(ports));
const calls = namingFailures(createCandidateActivities(ports));
const workers = await Promise.all([
  Worker.create({
    ...common,
    taskQueue: "holdfast",
    workflowBundle,
    maxCachedWorkflows: 100,
    // a killed worker's workflows are offered to the next one after this
    stickyQueueScheduleToStartTimeout: "2 seconds",
    // Scripted turns need no device: the same activity, without an engine.
    activities: { ...runs, generateTurns: policy.generateTurns },
    maxConcurrentActivityTaskExecutions: 8,
  }),
  Worker.create({
    ...common,
    taskQueue: "holdfast-policy",
    activities: policy,
    maxConcurrentActivityTaskExecutions: 1,
  }),
  ...["world", "replay"].map((account) =>
    Worker.create({
      ...common,
      taskQueue: `holdfast-llm-${account}`,
      activities: calls,
      maxConcurrentActivityTaskExecutions: 8,
    })
  ),
]);
const drain = () => workers.forEach((worker) => worker.shutdown());
Deno.addSignalListener("SIGTERM", drain);
Deno.addSignalListener("SIGINT", drain);
await Promise.all(workers.map((worker) => worker.run()));
ports.ledger.close();
await connection.close();
process.exit(0);

function levelOf(level: string): "trace" | "debug" | "info" | "warn" | "error" {
  const lower = level.toLowerCase();
  return lower === "trace" || lower === "debug" || lower === "warn" || lower === "error"
    ? lower
    : "info";
}
