import type { Problem } from "../data/problems.ts";
import { priceOf } from "../routing/candidates.ts";
import { answerQuestion, type Facts, UNKNOWN, usageOf } from "./facts.ts";
import { hopsOf } from "./questions.ts";

/** One call of a plan. */
export interface PlannedCall {
  readonly model: string;
  readonly question: string;
}

/** The best plan for a problem and what it is worth. */
export interface BestPlan {
  readonly calls: readonly PlannedCall[];
  readonly reward: number;
}

/** A place a chain of calls can be at: an entity in hand, the calls that led there, their cost. */
interface Reached {
  readonly costPico: number;
  readonly calls: readonly PlannedCall[];
}

/**
 * The exact optimum over chains of at most `maxCalls` calls. Each call asks the whole question, or one of
 * its relations of the question's entity or of the entity the call before replied; the last reply is
 * quoted. Reward: 1 if it is the answer, less costCoe · dollars; at worst 0, for no call at all. A dynamic
 * programme over (calls made, entity in hand) keeps the cheapest way to each.
 */
export function bestPlan(
  facts: Facts,
  problem: Problem,
  costCoe: number,
  maxCalls: number,
): BestPlan {
  const { entity, hops } = hopsOf(problem);
  const answer = problem.golden_answers[0]!;
  let best: BestPlan = { calls: [], reward: 0 };
  let frontier = new Map<string, Reached>([[entity, { costPico: 0, calls: [] }]]);
  for (let made = 0; made < maxCalls; made++) {
    const next = new Map<string, Reached>();
    for (const [at, { costPico, calls }] of frontier) {
      const questions = [...new Set(hops)].map((hop) => `${hop} of ${at}`);
      if (made === 0 && hops.length > 1) questions.push(problem.question);
      for (const question of questions) {
        for (const { name, price } of facts.candidates) {
          const reply = answerQuestion(facts, name, question);
          if (reply === UNKNOWN) continue;
          const cost = costPico + priceOf(price, usageOf(question, reply));
          if ((next.get(reply)?.costPico ?? Infinity) <= cost) continue;
          next.set(reply, { costPico: cost, calls: [...calls, { model: name, question }] });
        }
      }
    }
    const done = next.get(answer);
    const reward = done === undefined ? 0 : 1 - costCoe * done.costPico / 1e12;
    if (done !== undefined && reward > best.reward) best = { calls: done.calls, reward };
    // a place that costs more than what is left to win leads nowhere
    frontier = new Map(
      [...next].filter(([, { costPico }]) => 1 - costCoe * costPico / 1e12 > best.reward),
    );
  }
  return best;
}
