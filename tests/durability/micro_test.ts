import assert from "node:assert/strict";
import {
  assertEqualRuns,
  assertPaidOnce,
  killTimes,
  type Outcome,
  runKilled,
  runWithOutage,
  withStateDir,
} from "../_support/campaign.ts";

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
    const outcome = await withStateDir((dir) => runWithOutage(dir, ["micro"], 10));
    assertEqualRuns(await undisturbed(), outcome);
    assertPaidOnce(outcome);
  },
);
