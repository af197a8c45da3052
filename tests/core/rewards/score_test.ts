import assert from "node:assert/strict";
import { scoreTrajectory } from "../../../core/rewards/mod.ts";
import type { Problem } from "../../../core/data/mod.ts";
import type { AnsweredCall, Trajectory } from "../../../core/rollouts/mod.ts";

const REWARD = { reward_metric: "em", cost_coe: 100, format_penalty: 0.1 } as const;

const PROBLEM: Problem = {
  id: "q",
  data_source: "test",
  split: "train",
  question: "who",
  golden_answers: ["Ann"],
  extra_info: {},
};

function callTo(model: string, text: string): AnsweredCall {
  return {
    turn: 0,
    call: 0,
    model,
    question: "who",
    outcome: "answered",
    text,
    usage: { promptTokens: 1, completionTokens: 1 },
    costPico: 1_000_000_000, // $0.001
  };
}

function ended(part: Partial<Trajectory>): Trajectory {
  return {
    slot: 0,
    rollout: 0,
    problemId: "q",
    promptLength: 0,
    tokenIds: [],
    arrays: {},
    turns: 1,
    calls: [],
    open: [],
    mistakes: [],
    answer: null,
    answerFrom: null,
    status: "answered",
    ...part,
  };
}

Deno.test("scoreTrajectory() pays for a match and takes the price of its calls", () => {
  const two = [callTo("m1", "Ann"), callTo("m2", "Bob")];
  assert.deepEqual(scoreTrajectory(PROBLEM, ended({ answer: "ann", calls: two }), REWARD), {
    reward: 0.8,
    exactMatch: 1,
    costUsd: 0.002,
    malformed: false,
  });
});

Deno.test("scoreTrajectory() takes the penalty for a mistake or a missing answer, with the costs", () => {
  const calls = [callTo("m1", "Ann")];
  const exhausted = ended({ status: "exhausted", calls, mistakes: ["not_a_call"] });
  assert.equal(scoreTrajectory(PROBLEM, exhausted, REWARD)!.reward, -0.2);
  const mended = scoreTrajectory(PROBLEM, ended({ answer: "Ann", mistakes: ["too_long"] }), REWARD);
  assert.equal(mended!.reward, 0.9);
  assert.equal(mended!.malformed, true);
});

Deno.test("scoreTrajectory() takes the recorded verdict of a quoted reply, and of no other answer", () => {
  const problem = { ...PROBLEM, extra_info: { verdicts: { m1: true, m2: false } } };
  const calls = [callTo("m1", "It was Ann."), callTo("m2", "Ann")];
  const em = (part: Partial<Trajectory>) =>
    scoreTrajectory(problem, ended({ calls, ...part }), REWARD)!.exactMatch;
  assert.equal(em({ answer: "It was Ann.", answerFrom: 1 }), 1);
  assert.equal(em({ answer: "Ann", answerFrom: 2 }), 0);
  assert.equal(em({ answer: "It was Ann." }), 0);
  assert.equal(em({ answer: "Ann" }), 1);
  const withheld = { ...calls[0]!, outcome: "content_filter" as const, text: "" };
  assert.equal(em({ calls: [withheld], answer: "", answerFrom: 1 }), 0);
});

Deno.test("scoreTrajectory() gives a dropped trajectory no number, and refuses an unfinished one", () => {
  assert.equal(scoreTrajectory(PROBLEM, ended({ status: "dropped" }), REWARD), null);
  assert.throws(() => scoreTrajectory(PROBLEM, ended({ status: "live" }), REWARD), RangeError);
});
