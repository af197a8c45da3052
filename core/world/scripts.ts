import { hash32, hashText, type Random } from "../random.ts";
import { answerTurn, askTurn, quoteTurn, type Script, sendTurn } from "../rollouts/mod.ts";
import type { Plan } from "./optimum.ts";
import { formatChain, parseChain } from "./questions.ts";
import { UNKNOWN } from "./replies.ts";
import type { World } from "./world.ts";

/** How often a demonstration asks the owner of a relation on purpose, and how often the decoy. */
const OWNER_SHARE = 0.3;
const DECOY_SHARE = 0.4;
/** How often a demonstration sends a two-hop question whole. */
const WHOLE_SHARE = 0.1;
/** How often a demonstration writes its answer out, the long form of quoting it. */
const WRITTEN_SHARE = 0.1;

const DECOY = hashText("decoy");

/** Who is asked about a relation. */
type Choice = (relation: string, random: Random) => string;

/** The players results are compared with, and the demonstrator, by name; the oracle plays the given plans. */
export function createScripts(
  world: World,
  planOf: (question: string) => Plan | null,
): ReadonlyMap<string, Script> {
  const names = [...world.specialists.keys()];
  return new Map([
    ...names.map((name): [string, Script] => [`fixed:${name}`, decompose(world, () => name)]),
    ["cheapest", decompose(world, () => cheapestOf(world))],
    ["random", decompose(world, (_relation, random) => random.pick(names))],
    ["oracle", oracle(planOf)],
    ["demonstrator", demonstrator(world)],
  ]);
}

/**
 * Asks hop by hop, each of the model chosen for its relation, and quotes the last reply; an "unknown" on
 * the way ends it, for nothing can be asked of it.
 */
export function decompose(world: World, choose: Choice): Script {
  return ({ question }, { calls }, random) => {
    const { relations, entity } = questionOf(world, question);
    const last = calls.at(-1);
    const over = last !== undefined &&
      (calls.length === relations.length || last.text === UNKNOWN || last.question === question);
    if (over) return quoteTurn(calls.length);
    const relation = relations[calls.length]!;
    const model = choose(relation, random);
    if (relations.length === 1) return sendTurn(model);
    return askTurn(model, formatChain({ relations: [relation], entity: last?.text ?? entity }));
  };
}

/** The wrong specialist that demonstrations ask most about a relation. */
export function decoyOf(world: World, relation: string): string {
  const owner = world.owners.get(relation);
  const others = [...world.specialists.values()].filter((one) => one !== owner);
  const draw = hash32(world.config.seed, DECOY, world.relationIndex.get(relation)!);
  return others[draw % others.length]!.candidate.name;
}

/**
 * Sound grammar, bad routing: a policy that imitates it takes questions apart, asks each relation's decoy
 * when it is greedy, and the owner often enough for its samples to find out.
 */
function demonstrator(world: World): Script {
  const names = [...world.specialists.keys()];
  const sound = decompose(world, (relation, random) => {
    const draw = random.next();
    if (draw < OWNER_SHARE) return world.owners.get(relation)!.candidate.name;
    return draw < OWNER_SHARE + DECOY_SHARE ? decoyOf(world, relation) : random.pick(names);
  });
  return (problem, trajectory, random) => {
    const last = trajectory.calls.at(-1);
    const { relations } = questionOf(world, problem.question);
    if (last === undefined && relations.length > 1 && random.next() < WHOLE_SHARE) {
      return sendTurn(random.pick(names));
    }
    const turn = sound(problem, trajectory, random);
    if (last === undefined || turn !== quoteTurn(trajectory.calls.length)) return turn;
    return random.next() < WRITTEN_SHARE ? answerTurn(last.text) : turn;
  };
}

/** Plays the cheapest plan that is right; asks nobody where there is none. */
function oracle(planOf: (question: string) => Plan | null): Script {
  return ({ question }, { calls }) => {
    const plan = planOf(question);
    if (plan === null) return answerTurn(UNKNOWN);
    const next = plan.calls[calls.length];
    if (next === undefined) return quoteTurn(calls.length);
    return next.question === question ? sendTurn(next.model) : askTurn(next.model, next.question);
  };
}

function cheapestOf(world: World): string {
  const candidates = [...world.specialists.values()].map(({ candidate }) => candidate);
  return candidates.reduce((best, one) => one.price.promptPico < best.price.promptPico ? one : best)
    .name;
}

function questionOf(world: World, question: string) {
  const chain = parseChain(world, question);
  if (chain === null) throw new RangeError(`Cannot play "${question}": it is no question`);
  return chain;
}
