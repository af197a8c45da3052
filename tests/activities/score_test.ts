import assert from "node:assert/strict";
import { scoreRollouts } from "../../activities/_score.ts";
import type { RunKit } from "../../activities/ports.ts";
import { resolveConfig } from "../../configs/resolve.ts";
import type { Trajectory } from "../../core/rollouts/mod.ts";

const problem = {
  id: "p",
  data_source: "world",
  split: "train",
  question: "mother of ada",
  golden_answers: ["anne"],
  extra_info: {},
} as const;
const kit = {
  config: resolveConfig({ preset: {}, overrides: [] }),
  problems: new Map([["p", problem]]),
} as unknown as RunKit;

/** A trajectory of prompt, one sampled token and an answer that cost a cent. */
function played(slot: number, rollout: number, answer: string | null): Trajectory {
  return {
    slot,
    rollout,
    problemId: "p",
    promptLength: 1,
    tokenIds: [5, 6],
    arrays: { response_mask: [0, 1], rollout_log_probs: [0, -0.5] },
    turns: 1,
    calls: [{
      ...{ turn: 0, call: 0, model: "m", question: "q", outcome: "answered", text: "anne" },
      ...{ usage: { promptTokens: 1, completionTokens: 1 }, costPico: 1e9 },
    }] as Trajectory["calls"],
    open: [],
    mistakes: [],
    answer,
    answerFrom: null,
    status: answer === null ? "dropped" : "answered",
  };
}

Deno.test("a dropped rollout is counted, gives no row, and touches no other's advantage", () => {
  const whole = [played(0, 0, "anne"), played(0, 1, "bob")];
  const { rows, metrics } = scoreRollouts(kit, [...whole, played(0, 2, null)], 100);
  assert.deepEqual(rows, scoreRollouts(kit, whole, 100).rows);
  assert.equal(rows.length, 2);
  assert.equal(metrics["training/dispatched_samples"], 3);
  assert.equal(metrics["training/trained_samples"], 2);
  assert.equal(metrics["training/rollout_failure/evicted_samples"], 1);
});

Deno.test("advantages are the rewards less their group's mean, on sampled tokens alone", () => {
  const { rows, metrics } = scoreRollouts(kit, [played(0, 0, "anne"), played(0, 1, "bob")], 100);
  // rewards 1 − 100 · 0.001 and −0.1: half a point to each side of 0.4
  assert.deepEqual(rows.map((row) => row.arrays["advantages"]), [[0, 0.5], [0, -0.5]]);
  assert.deepEqual(rows.map((row) => row.arrays["old_log_probs"]), [[0, -0.5], [0, -0.5]]);
  assert.ok(Math.abs(metrics["critic/rewards/mean"]! - 0.4) < 1e-12);
  assert.equal(metrics["critic/score/mean"], 0.5);
  assert.equal(metrics["external/calls"], 2);
  assert.ok(Math.abs(metrics["external/cost_usd"]! - 0.002) < 1e-12);
  assert.equal(metrics["env/call_share/m"], 1);
});

Deno.test("groups of equal rewards have advantage 0 and are counted", () => {
  const equal = [played(0, 0, "bob"), played(0, 1, "eve")];
  const { rows, metrics } = scoreRollouts(kit, [
    ...equal,
    ...equal.map((one) => ({ ...one, slot: 1 })),
  ], 100);
  assert.ok(rows.every((row) => row.arrays["advantages"]!.every((value) => value === 0)));
  assert.equal(metrics["training/frac_reward_zero_std"], 1);
});
