import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import {
  assertEqualRuns,
  assertPaidOnce,
  killTimes,
  type Outcome,
  runKilled,
  withStateDir,
} from "../_support/campaign.ts";
import { readBill, readTrace, startTrain } from "../_support/train_process.ts";

const quiet = { sanitizeOps: false, sanitizeResources: false }; // child processes end after the test's own work

let reference: Promise<Outcome> | null = null;
/** One undisturbed run that the others are compared with. */
const undisturbed = () => reference ??= withStateDir((dir) => runKilled(dir, ["micro"], []));

Deno.test("two undisturbed runs with one seed are byte-equal", quiet, async () => {
  const [a, b] = [await undisturbed(), await withStateDir((dir) => runKilled(dir, ["micro"], []))];
  assertEqualRuns(a, b);
  assertPaidOnce(a);
  assert.equal(a.trace.summary.ledger.lost, 0);
  assert.equal(a.bill.lines, a.trace.summary.ledger.calls);
  assert.equal(a.bill.costPico / 1e12, a.trace.summary.ledger.cost_usd);
});

Deno.test("another seed gives other weights", quiet, async () => {
  const other = await withStateDir((dir) => runKilled(dir, ["micro", "trainer.seed=2"], []));
  assert.notEqual(
    other.trace.summary.weights_sha256,
    (await undisturbed()).trace.summary.weights_sha256,
  );
});

Deno.test("a run whose whole process tree is killed five times ends the same", quiet, async () => {
  const killed = await withStateDir((dir) => runKilled(dir, ["micro"], killTimes(1, 5, 2.5)));
  assert.ok(killed.kills.length >= 3, `only ${killed.kills.length} kills landed`);
  assertEqualRuns(await undisturbed(), killed);
  assertPaidOnce(killed);
});

Deno.test(
  "a run whose candidates are away for a while waits and ends the same",
  quiet,
  async () => {
    const outcome = await withStateDir(async (dir): Promise<Outcome> => {
      const train = startTrain(dir, ["micro"]);
      await train.until(({ kind }) => kind === "train");
      const { world } = JSON.parse(await readFile(join(dir, "ports.json"), "utf8"));
      const fault = { kind: "refuse", for_s: 10 };
      const set = await fetch(`http://127.0.0.1:${world}/admin/faults`, {
        method: "POST",
        body: JSON.stringify(fault),
      });
      await set.body?.cancel();
      const waiting = await train.until(({ kind, state }) =>
        kind === "status" && state === "waiting"
      );
      assert.equal((waiting["waits"] as { kind: string }[])[0]!.kind, "unavailable");
      assert.equal(await train.exit, 0, train.stderr());
      return {
        trace: await readTrace(dir, "micro"),
        bill: await readBill(join(dir, "world_bill.jsonl")),
        wallS: 0,
        kills: [],
      };
    });
    assertEqualRuns(await undisturbed(), outcome);
    assertPaidOnce(outcome);
  },
);
