import assert from "node:assert/strict";
import { join } from "node:path";
import { createLedger } from "../../../adapters/storage/ledger.ts";
import { withFolder } from "./_folder.ts";
import { answerOf, intentOf, NO_LIMITS } from "./_intents.ts";

function startChild(...args: string[]): Deno.ChildProcess {
  const script = new URL("./_ledger_child.ts", import.meta.url).pathname;
  return new Deno.Command(Deno.execPath(), {
    args: ["run", "--no-check", "-A", script, ...args],
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
}

Deno.test("createLedger() keeps the budget of processes that share a new file", () =>
  withFolder(async (dir) => {
    const path = join(dir, "ledger.db");
    // 7 pico-dollars a call, 10 reserved: money ends at 85 calls (84 × 7 + 10 ≤ 600 < 85 × 7 + 10)
    const children = [1, 2, 3].map(() => startChild("hammer", path, "600", "1000"));
    const outputs = await Promise.all(children.map((child) => child.output()));
    const reports = outputs.map(({ stdout }) => JSON.parse(new TextDecoder().decode(stdout)));
    for (const { mostPico } of reports) assert.ok(mostPico <= 600, `${mostPico}`);
    const ledger = createLedger(path);
    const { calls, attempts, costPico, reservedPico, open, repaid, lost } = ledger.spend("run");
    assert.deepEqual([calls, attempts, costPico], [85, 85, 595]);
    assert.deepEqual([reservedPico, open, repaid, lost], [0, 0, 0, 0]);
    assert.equal(reports.reduce((sum, { sent }) => sum + sent, 0), 85);
    ledger.close();
  }));

Deno.test("createLedger() keeps the number of calls of processes that share a file", () =>
  withFolder(async (dir) => {
    const path = join(dir, "ledger.db");
    const children = [1, 2].map(() => startChild("hammer", path, "1000000", "50"));
    const outputs = await Promise.all(children.map((child) => child.output()));
    const reports = outputs.map(({ stdout }) => JSON.parse(new TextDecoder().decode(stdout)));
    for (const { mostCalls } of reports) assert.ok(mostCalls <= 50, `${mostCalls}`);
    const ledger = createLedger(path);
    assert.equal(ledger.spend("run").calls, 50);
    ledger.close();
  }));

Deno.test("createLedger() loses exactly what a killed process had in flight, and repays nothing", () =>
  withFolder(async (dir) => {
    const path = join(dir, "ledger.db");
    const intents = [0, 1, 2, 3, 4].map((i) => intentOf(`k${i}`));
    const child = startChild("hang", path);
    const reader = child.stdout.getReader();
    await reader.read();
    const ledger = createLedger(path);
    const alive = ledger.begin(intents, NO_LIMITS);
    assert.deepEqual([alive.completed.length, alive.busy.length, alive.open.length], [2, 3, 0]);
    child.kill("SIGKILL");
    await child.status;
    await reader.cancel();
    const after = ledger.begin(intents, NO_LIMITS);
    assert.deepEqual([after.completed.length, after.busy.length, after.open.length], [2, 0, 3]);
    ledger.settle(after.open.map((attempt) => answerOf(attempt)));
    const { calls, attempts, lost, lostPico, repaid, costPico } = ledger.spend("run");
    assert.deepEqual([calls, attempts, lost, lostPico, repaid], [5, 8, 3, 30, 0]);
    assert.equal(costPico, 5 * 7 + 30);
    ledger.close();
  }));
