import type { Script, Trajectory } from "../rollouts/mod.ts";
import type { Random } from "../random.ts";
import type { Problem } from "../data/problems.ts";
import { type Facts, UNKNOWN } from "./facts.ts";
import { hopsOf } from "./questions.ts";

/** How often a demonstration asks the right specialist, and the decoy; else any. */
const RIGHT = 0.2;
const DECOY = 0.4;
/** Two-hop demonstrations that send the whole question. */
const WHOLE = 0.1;
/** Calls a demonstration makes at most. */
const DEMONSTRATED_CALLS = 3;

const route = (model: string, question: string) => `<route model="${model}">${question}</route>`;
const quote = (reply: number) => `<answer from="${reply}"/>`;
const giveUp = `<answer>${UNKNOWN}</answer>`;

/** Asks hop after hop and quotes the last reply; gives up at the first "unknown". */
export function decomposing(choose: (random: Random) => string): Script {
  return (problem, { calls }, random) => {
    const { entity, hops } = hopsOf(problem);
    const last = calls.at(-1)?.text ?? entity;
    if (last === UNKNOWN) return giveUp;
    return calls.length === hops.length
      ? quote(calls.length)
      : route(choose(random), `${hops[calls.length]!} of ${last}`);
  };
}

/** The turns of a fixed list of calls, then a quote of the last reply. */
export function following(
  plan: (problem: Problem) => readonly { model: string; question: string }[],
): Script {
  return (problem, { calls }) => {
    const planned = plan(problem);
    const next = planned[calls.length];
    if (next !== undefined) return route(next.model, next.question);
    return planned.length === 0 ? giveUp : quote(calls.length);
  };
}

/**
 * Imperfect routing to imitate: per hop the owner, a fixed wrong specialist or any; asks anew after
 * "unknown" while calls are left; some two-hop questions are sent whole.
 */
export function demonstrator(facts: Facts): Script {
  const choose = (hop: string, random: Random) => {
    const draw = random.next();
    if (draw < RIGHT) return facts.owner.get(hop)!;
    if (draw < RIGHT + DECOY) return facts.decoy.get(hop)!;
    return random.pick(facts.candidates).name;
  };
  return (problem, trajectory, random) => {
    const { entity, hops } = hopsOf(problem);
    const { calls } = trajectory;
    if (hops.length > 1 && sentWhole(problem, trajectory, random)) {
      return calls.length === 0
        ? route(random.pick(facts.candidates).name, problem.question)
        : quote(1);
    }
    const known = calls.filter((call) => call.text !== UNKNOWN);
    if (known.length === hops.length) return quote(calls.length);
    if (calls.length === DEMONSTRATED_CALLS) return quote(calls.length);
    const hop = hops[known.length]!;
    return route(choose(hop, random), `${hop} of ${known.at(-1)?.text ?? entity}`);
  };
}

/** Decided in the first turn and seen from the first call afterwards. */
function sentWhole(problem: Problem, { calls }: Trajectory, random: Random): boolean {
  return calls.length === 0 ? random.next() < WHOLE : calls[0]!.question === problem.question;
}
