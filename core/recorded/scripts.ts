import { containsAnswer } from "../rewards/mod.ts";
import { answerTurn, quoteTurn, type Script, sendTurn } from "../rollouts/mod.ts";
import type { Candidate } from "../routing/mod.ts";
import { callCostPico, type RecordedPool } from "./pool.ts";
import type { RecordedQuestion } from "./rows.ts";

/** The players results are compared with, and the demonstrator, by name. */
export function createScripts(
  pool: RecordedPool,
  byId: ReadonlyMap<string, RecordedQuestion>,
): ReadonlyMap<string, Script> {
  const names = pool.candidates.map(({ name }) => name);
  return new Map([
    ...names.map((name): [string, Script] => [`fixed:${name}`, askOne(() => name)]),
    ["cheapest", askOne(() => cheapestOn(pool))],
    ["random", askOne((_id, random) => random.pick(names))],
    ["cascade", cascade(pool)],
    ["oracle", oracle(pool, byId)],
    ["demonstrator", demonstrator(names)],
  ]);
}

/** Asks one candidate and gives its reply. */
function askOne(
  choose: (problemId: string, random: Parameters<Script>[2]) => string,
): Script {
  return (problem, trajectory, random) =>
    trajectory.calls.length === 0 ? sendTurn(choose(problem.id, random)) : quoteTurn(1);
}

/** The candidate whose answers to the train questions cost least. */
function cheapestOn(pool: RecordedPool): string {
  const train = pool.questions.filter(({ split }) => split === "train");
  const costOf = (candidate: Candidate) =>
    train.reduce(
      (sum, question) =>
        sum + callCostPico(candidate, question, question.answers.get(candidate.name)!),
      0,
    );
  const costs = pool.candidates.map((candidate) => ({ candidate, pico: costOf(candidate) }));
  return costs.reduce((best, one) => one.pico < best.pico ? one : best).candidate.name;
}

/** Two cheap opinions; where the second does not hold the first, a third decides. */
function cascade({ cascade: { first, check, fallback } }: RecordedPool): Script {
  return (_problem, { calls }) => {
    const [one, two] = calls;
    if (one === undefined) return sendTurn(first);
    if (two === undefined) return sendTurn(check);
    if (containsAnswer(two.text, one.text)) return quoteTurn(2);
    return calls.length === 2 ? sendTurn(fallback) : quoteTurn(3);
  };
}

/** Asks the cheapest candidate that is right, or nobody where none is. */
function oracle(pool: RecordedPool, byId: ReadonlyMap<string, RecordedQuestion>): Script {
  return ({ id }, { calls }) => {
    if (calls.length > 0) return quoteTurn(1);
    const question = byId.get(id)!;
    const right = pool.candidates
      .map((candidate) => ({ candidate, answer: question.answers.get(candidate.name)! }))
      .filter(({ answer }) => answer.correct)
      .map(({ candidate, answer }) => ({
        name: candidate.name,
        pico: callCostPico(candidate, question, answer),
      }));
    if (right.length === 0) return answerTurn("unknown");
    return sendTurn(right.reduce((best, one) => one.pico < best.pico ? one : best).name);
  };
}

/** Asks at random, once to three times, and gives one of the replies, mostly the last: the grammar without the skill. */
function demonstrator(names: readonly string[]): Script {
  return (_problem, { calls }, random) => {
    const enough = calls.length === 3 || (calls.length > 0 && random.next() < 0.65);
    if (enough) return quoteTurn(random.next() < 0.7 ? calls.length : 1 + random.int(calls.length));
    const unasked = names.filter((name) => calls.every(({ model }) => model !== name));
    return sendTurn(random.pick(unasked.length > 0 ? unasked : names));
  };
}
