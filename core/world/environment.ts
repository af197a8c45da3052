import type { WorldConfig } from "../../configs/world.ts";
import { type Environment, exposeScripts, MISTAKES, PROTOCOL_PIECES } from "../rollouts/mod.ts";
import { findCheapestPlan, type Plan, rewardOf } from "./optimum.ts";
import { generateProblems } from "./questions.ts";
import { createScripts } from "./scripts.ts";
import { buildTokenizerJson, END_OF_TEXT } from "./tokenizer.ts";
import { buildWorld } from "./world.ts";

/** The generated world as an environment. Its `oracle` assumes that a right answer is worth its calls. */
export function createWorld(config: WorldConfig): Environment {
  const world = buildWorld(config);
  const problems = {
    train: generateProblems(world, "train"),
    dev: generateProblems(world, "dev"),
    test: generateProblems(world, "test"),
  };
  const plans = new Map<string, Plan | null>();
  const planOf = (question: string) => {
    const plan = plans.get(question) ?? findCheapestPlan(world, question);
    plans.set(question, plan);
    return plan;
  };
  return {
    name: "world",
    candidates: [...world.specialists.values()].map(({ candidate }) => candidate),
    problems: (split) => problems[split],
    verbatimOnly: false,
    tokenizerJson: buildTokenizerJson(world, [...PROTOCOL_PIECES, ...Object.values(MISTAKES)]),
    endOfText: END_OF_TEXT,
    ...exposeScripts(createScripts(world, planOf)),
    optimum: (problem, costCoe) => rewardOf(planOf(problem.question), costCoe),
  };
}
