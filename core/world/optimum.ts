import { priceOf } from "../routing/mod.ts";
import { answerQuestion, countUsage, UNKNOWN } from "./replies.ts";
import { formatChain, parseChain, resolveChain } from "./questions.ts";
import type { World } from "./world.ts";

/** Calls a plan may make. */
export const MAX_CALLS = 3;

/** One call of a plan. */
export interface PlannedCall {
  readonly model: string;
  readonly question: string;
}

/** Calls in order whose last reply is right, and their cost. */
export interface Plan {
  readonly calls: readonly PlannedCall[];
  readonly costPico: number;
}

/**
 * The cheapest plan of at most `MAX_CALLS` calls whose last reply answers the question; null when there
 * is none. A call asks the whole question, or one of its relations of its entity or of any entity replied
 * before. Calls that do not lead to the last reply only cost, so the cheapest plan is a path: each call
 * but the first asks of the entity just replied. With best[k][e] the cheapest path of k calls to e,
 * best[k+1][reply(m, q)] = min over e, m and q about e of best[k][e] + cost(m, q), which is exact.
 * Throws RangeError when the text is no question of this world.
 */
export function findCheapestPlan(world: World, question: string): Plan | null {
  const chain = parseChain(world, question);
  if (chain === null) throw new RangeError(`Cannot plan for "${question}": it is no question`);
  const answer = resolveChain(world, chain);
  const relations = [...new Set(chain.relations)];
  let cheapest: Plan | null = null;
  let paths = new Map<string, Plan>([[chain.entity, { calls: [], costPico: 0 }]]);
  for (let made = 0; made < MAX_CALLS; made++) {
    const longer = new Map<string, Plan>();
    for (const [entity, path] of paths) {
      if (cheapest !== null && path.costPico >= cheapest.costPico) continue;
      const asked = relations.map((relation) => formatChain({ relations: [relation], entity }));
      if (made === 0) asked.push(formatChain(chain));
      for (const text of new Set(asked)) {
        for (const [model, { candidate }] of world.specialists) {
          const reply = answerQuestion(world, model, text).text;
          const costPico = path.costPico + priceOf(candidate.price, countUsage([text], reply));
          const known = reply === answer ? cheapest : longer.get(reply);
          if (reply === UNKNOWN || (known && known.costPico <= costPico)) continue;
          const plan = { calls: [...path.calls, { model, question: text }], costPico };
          if (reply === answer) cheapest = plan;
          else longer.set(reply, plan);
        }
      }
    }
    paths = longer;
  }
  return cheapest;
}

/** The best reward a plan can reach: 1 less its priced cost, or 0 for asking nobody. */
export function rewardOf(plan: Plan | null, costCoe: number): number {
  return plan === null ? 0 : Math.max(0, 1 - costCoe * plan.costPico / 1e12);
}
