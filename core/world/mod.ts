/**
 * The generated world: facts, questions of one and two hops, eight specialists that know disjoint parts
 * of the facts, and what the best plan is worth. Everything is a function of the config.
 * @module
 */
import type { WorldConfig } from "../../configs/world.ts";
import type { Problem } from "../data/problems.ts";
import type { Environment, Script } from "../rollouts/mod.ts";
import { createFacts, type Facts } from "./facts.ts";
import { type BestPlan, bestPlan } from "./optimum.ts";
import { createQuestions } from "./questions.ts";
import { decomposing, demonstrator, following } from "./scripts.ts";
import { createTokenizerJson, END_OF_TEXT } from "./tokenizer.ts";

export { answerQuestion, createFacts, type Facts, UNKNOWN, usageOf } from "./facts.ts";
export { bestPlan } from "./optimum.ts";

/** Calls a plan of the optimum makes at most. */
const MAX_CALLS = 3;
/** The price of a dollar by which the oracle's plans are chosen. */
const ORACLE_COST_COE = 100;

export function createWorld(config: WorldConfig): Environment {
  const facts = createFacts(config);
  const questions = createQuestions(facts);
  const plans = new Map<string, BestPlan>();
  const plan = (problem: Problem, costCoe: number): BestPlan => {
    const key = `${costCoe} ${problem.id}`;
    const known = plans.get(key) ?? bestPlan(facts, problem, costCoe, MAX_CALLS);
    plans.set(key, known);
    return known;
  };
  const scripts = scriptsOf(facts, (problem) => plan(problem, ORACLE_COST_COE));
  return {
    name: "world",
    candidates: facts.candidates,
    problems: (split) => questions[split],
    verbatimOnly: false,
    tokenizerJson: createTokenizerJson(facts),
    endOfText: END_OF_TEXT,
    baselines: [...scripts.keys()].filter((name) => name !== "demonstrator"),
    script: (name) => {
      const script = scripts.get(name);
      if (script !== undefined) return script;
      throw new RangeError(
        `Cannot find script "${name}": this world has ${[...scripts.keys()].join(", ")}`,
      );
    },
    optimum: (problem, costCoe) => plan(problem, costCoe).reward,
  };
}

function scriptsOf(facts: Facts, plan: (problem: Problem) => BestPlan): Map<string, Script> {
  const { candidates } = facts;
  const cheapest = candidates.reduce((a, b) => a.price.promptPico <= b.price.promptPico ? a : b);
  return new Map<string, Script>([
    ["random", decomposing((random) => random.pick(candidates).name)],
    ["cheapest", decomposing(() => cheapest.name)],
    ...candidates.map(({ name }) => [`fixed:${name}`, decomposing(() => name)] as const),
    ["oracle", following((problem) => plan(problem).calls)],
    ["demonstrator", demonstrator(facts)],
  ]);
}
