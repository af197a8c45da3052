import assert from "node:assert/strict";
import { readFile, truncate } from "node:fs/promises";
import { join } from "node:path";
import { assertEqualRuns, type Outcome, runKilled, withStateDir } from "../_support/campaign.ts";
import { readBill, readTrace, startTrain } from "../_support/train_process.ts";
import { connectTemporal } from "../../adapters/temporal/connect.ts";
import type { RunStatus } from "../../workflows/_board.ts";

const quiet = { sanitizeOps: false, sanitizeResources: false }; // child processes end after the test's own work

async function outcomeOf(dir: string): Promise<Outcome> {
  const trace = await readTrace(dir, "micro");
  return { trace, bill: await readBill(join(dir, "world_bill.jsonl")), wallS: 0, kills: [] };
}

Deno.test(
  "a used-up budget parks the run, spends no more, and goes on when raised",
  quiet,
  () =>
    withStateDir(async (dir) => {
      const first = startTrain(dir, ["micro", "budget.max_calls=1500"]);
      const parked = await first.until(({ state }) => state === "parked");
      const [wait] = parked["waits"] as { kind: string; reason: string }[];
      assert.equal(wait!.kind, "out_of_budget");
      assert.match(wait!.reason, /budget\.max_calls/);
      const before = await readBill(join(dir, "world_bill.jsonl"));
      assert.ok(before.lines <= 1500, `${before.lines} calls`);
      await new Promise((resolve) => setTimeout(resolve, 1500));
      assert.equal((await readBill(join(dir, "world_bill.jsonl"))).lines, before.lines);
      Deno.kill(first.child.pid!, "SIGINT"); // as Ctrl-C does
      assert.equal(await first.exit, 0, first.stderr());
      assert.match(first.stderr(), /nothing is lost.*\.\/holdfast train micro/s);

      const second = startTrain(dir, ["micro", "budget.max_calls=100000"]);
      assert.equal(await second.exit, 0, second.stderr());
      assert.match(second.stderr(), /Takes up budget\.max_calls/);
      const outcome = await outcomeOf(dir);
      assert.equal(outcome.bill.lines, outcome.trace.summary.ledger.calls);
    }),
);

Deno.test(
  "after a damaged checkpoint the log rebuilds the policy, byte for byte",
  quiet,
  async () => {
    const longer = ["micro", "trainer.total_training_steps=8"];
    const whole = await withStateDir((dir) => runKilled(dir, longer, []));
    const mended = await withStateDir(async (dir) => {
      await runKilled(dir, ["micro"], []);
      const folder = join(dir, "runs/micro/checkpoints/global_step_6/actor");
      await truncate(join(folder, "model.safetensors"), 1000);
      await runKilled(dir, longer, []);
      return await outcomeOf(dir);
    });
    assert.equal(mended.trace.summary.weights_sha256, whole.trace.summary.weights_sha256);
    assert.equal(mended.trace.summary.step, 8);
    assert.equal(mended.trace.summary.ledger.repaid, 0);
  },
);

Deno.test(
  "pause, resume, setCoefficient and stop do what they say",
  quiet,
  () =>
    withStateDir(async (dir) => {
      const train = startTrain(dir, ["micro"]);
      await train.until(({ kind }) => kind === "train");
      const { temporal } = JSON.parse(await readFile(join(dir, "ports.json"), "utf8"));
      const { client, connection } = await connectTemporal({
        address: `127.0.0.1:${temporal.port}`,
      });
      const handle = client.workflow.getHandle("micro");
      await handle.signal("pause");
      await train.until(({ state }) => state === "paused");
      const bill = join(dir, "world_bill.jsonl");
      await new Promise((resolve) => setTimeout(resolve, 1000)); // calls in flight end
      const before = (await readBill(bill)).lines;
      await new Promise((resolve) => setTimeout(resolve, 1000));
      assert.equal((await readBill(bill)).lines, before);

      await assert.rejects(handle.executeUpdate("setCoefficient", { args: [{ value: -1 }] }));
      const change = await handle.executeUpdate<
        { before: number; after: number; fromStep: number },
        [{ value: number }]
      >("setCoefficient", { args: [{ value: 50 }] });
      assert.equal(change.before, 100);
      assert.equal(change.after, 50);
      await handle.signal("resume");
      await train.until(({ kind, ...line }) =>
        kind === "train" && line["training/global_step"] === change.fromStep
      );
      const status = await handle.query<RunStatus, []>("status");
      assert.equal(status.costCoe, 50);
      await handle.signal("stop");
      assert.equal(await train.exit, 0, train.stderr());
      await connection.close();

      const again = startTrain(dir, ["micro"]);
      assert.equal(await again.exit, 0, again.stderr());
      const { metrics, summary } = await readTrace(dir, "micro");
      assert.equal(summary.step, 6);
      const coefficients = metrics.filter(({ kind }) => kind === "train")
        .map((line) => line["reward/cost_coe"]);
      assert.equal(coefficients.at(-1), 50);
      assert.equal(coefficients[0], 100);
    }),
);

Deno.test(
  "the same command after the end says so and spends nothing",
  quiet,
  () =>
    withStateDir(async (dir) => {
      const done = await runKilled(dir, ["micro"], []);
      const again = startTrain(dir, ["micro"]);
      assert.equal(await again.exit, 0);
      assert.match(again.stderr(), /already complete/);
      assert.equal(again.lines().at(-1)!["weights_sha256"], done.trace.summary.weights_sha256);
      assertEqualRuns(done, await outcomeOf(dir));
      assert.equal((await readBill(join(dir, "world_bill.jsonl"))).lines, done.bill.lines);
    }),
);
