import assert from "node:assert/strict";
import process from "node:process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { claimState } from "../../../adapters/processes/state_lock.ts";
import { Supervisor } from "../../../adapters/processes/supervisor.ts";
import { toolsFolder } from "../../../adapters/processes/tools_folder.ts";
import { findTemporalCli } from "../../../adapters/temporal/cli.ts";
import { connectTemporal } from "../../../adapters/temporal/connect.ts";
import { freePort } from "../../../adapters/temporal/ports.ts";
import { prepareNamespace } from "../../../adapters/temporal/prepare.ts";
import { startTemporalServer } from "../../../adapters/temporal/server.ts";
import { stopRun } from "../../../workers/stack.ts";
import { scratchFolder, script } from "../../_support/stubs.ts";
import { until } from "../processes/_until.ts";

const PROJECT = fileURLToPath(new URL("../../..", import.meta.url));
const log = () => {};

Deno.test("startTemporalServer() prepares a server that survives kill -9", async () => {
  using dir = scratchFolder();
  const stateDir = dir.folder;
  const env = process.env;
  const cli = await findTemporalCli({ env, toolsDir: toolsFolder(env, PROJECT), log });
  const supervisor = new Supervisor({ log });
  const ports = { port: await freePort(), uiPort: await freePort() };
  try {
    const server = await startTemporalServer({ cli, stateDir, ports, supervisor, log });
    assert.equal(server.searchAttributes, true);
    const ours = { address: server.address, namespace: "default" };
    assert.equal(await prepareNamespace({ ...ours, retention: true }, log), true); // again

    const { client, connection } = await connectTemporal(ours);
    const { config } = await connection.workflowService.describeNamespace({ namespace: "default" });
    assert.equal(Number(config?.workflowExecutionRetentionTtl?.seconds), 30 * 24 * 3600);
    const handle = await client.workflow.start("trainRouter", {
      taskQueue: "holdfast",
      workflowId: "my-run",
      args: [{}],
      searchAttributes: { HoldfastState: ["running"], HoldfastCostUsd: [0.5] },
    });

    const pid = supervisor.pid("temporal");
    assert.ok(pid !== null);
    Deno.kill(pid, "SIGKILL");
    await until(() => ![null, pid].includes(supervisor.pid("temporal")));
    const described = await eventually(() => handle.describe());
    assert.equal(described.status.name, "RUNNING");
    assert.equal(Number(described.raw.executionConfig?.defaultWorkflowTaskTimeout?.seconds), 3);
    assert.deepEqual(described.searchAttributes.HoldfastState, ["running"]);
    assert.equal((await fetch(server.uiUrl)).ok, true);

    const owner = await claimState(stateDir, { log });
    assert.ok(owner.owned);
    owner.publish({ ...ours, uiUrl: server.uiUrl, worldUrl: null });
    await stopRun(stateDir, "my-run");
    await stopRun(stateDir, "never-begun");
    assert.equal((await handle.describe()).status.name, "TERMINATED");
    owner.release();
    await connection.close();
  } finally {
    await supervisor.stopAll();
  }
});

Deno.test("startTemporalServer() gives the end of the log when the server will not start", async () => {
  using dir = scratchFolder();
  const path = script(join(dir.folder, "temporal"), "echo 'disk is full' >&2; exit 3");
  const supervisor = new Supervisor({ log });
  const ports = { port: await freePort(), uiPort: await freePort() };
  const cli = { path, version: "temporal version 1.9.1", source: "PATH" as const };
  await assert.rejects(
    startTemporalServer({ cli, stateDir: dir.folder, ports, supervisor, log }),
    /^InvalidConfigError: Cannot start Temporal: it ended 3 times\. Read .*temporal\.log; .*disk is full$/s,
  );
  await supervisor.stopAll();
});

/** Asks again while a server comes back. */
async function eventually<T>(ask: () => Promise<T>, attempts = 100): Promise<T> {
  for (let attempt = 1;; attempt++) {
    try {
      return await ask();
    } catch (error) {
      if (attempt === attempts) throw error;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}
