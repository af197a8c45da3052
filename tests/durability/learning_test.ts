import assert from "node:assert/strict";
import { assertPaidOnce, runKilled, withStateDir } from "../_support/campaign.ts";

const quiet = { sanitizeOps: false, sanitizeResources: false }; // child processes end after the test's own work

Deno.test(
  "a short quickstart beats its warm start and every baseline but the oracle",
  quiet,
  () =>
    withStateDir(async (dir) => {
      const shorter = ["trainer.total_training_steps=10", "trainer.test_freq=10"];
      const outcome = await runKilled(dir, ["quickstart", ...shorter], []);
      const { regret_ci, share, baselines } = outcome.trace.summary;
      assert.ok(regret_ci[1] <= 0.1, `regret is in [${regret_ci}]`);
      const { oracle, ...others } = baselines;
      assert.equal(oracle!.regret, 0);
      assert.equal(Object.keys(others).length, 11);
      for (const [name, { regret, regret_above_policy_ci: [low] }] of Object.entries(others)) {
        assert.ok(low > 0, `${name}: better by ${low} at least`);
        assert.ok(
          regret >= (name.startsWith("fixed:") ? 0.4 : 0.3),
          `${name} has regret ${regret}`,
        );
      }
      assert.ok(Math.max(...Object.values(share)) <= 0.8, JSON.stringify(share));
      assertPaidOnce(outcome);
    }),
);
