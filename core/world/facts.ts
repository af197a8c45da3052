import type { WorldConfig } from "../../configs/world.ts";
import { createRandom, hash32, hashText, uniformAt } from "../random.ts";
import type { Candidate } from "../routing/candidates.ts";
import { makeNames } from "./names.ts";

/** What a world's random choices are for, so that none disturbs another. */
const PURPOSE = {
  entities: 1,
  relations: 2,
  fact: 3,
  owners: 4,
  prices: 5,
  decline: 6,
  wrong: 7,
  decoy: 8,
};

/** Names of the eight specialists. */
const SPECIALISTS = [
  "atlas",
  "bison",
  "cedar",
  "delta",
  "ember",
  "fjord",
  "grove",
  "haven",
] as const;
/** How many relations each owns, of sixteen. */
const SHARES = [4, 3, 2, 2, 2, 1, 1, 1] as const;
/** Cost of one correct one-hop call, in pico-dollars: from 0.0002 $ to 0.0010 $. */
const CHEAPEST_PICO = 200_000_000;
const DEAREST_PICO = 1_000_000_000;
/** Tokens a chat template adds to a prompt, in this world's count. */
const TEMPLATE_TOKENS = 8;
/** A completion token costs four prompt tokens; a one-hop call has 11 of these and one of those. */
const COMPLETION_RATIO = 4;
const UNITS_PER_CALL = TEMPLATE_TOKENS + 3 + COMPLETION_RATIO;

/** The word for not knowing. */
export const UNKNOWN = "unknown";

/** Everything true in a world; a function of its config alone. */
export interface Facts {
  readonly config: WorldConfig;
  readonly entities: readonly string[];
  readonly relations: readonly string[];
  readonly candidates: readonly Candidate[];
  /** The specialist that owns a relation. */
  readonly owner: ReadonlyMap<string, string>;
  /** A specialist that does not, whom the demonstrations favour. */
  readonly decoy: ReadonlyMap<string, string>;
  /** Place of an entity in `entities`; undefined for any other text. */
  placeOf(entity: string): number | undefined;
  /** `relation of entity`, never the entity itself. */
  follow(relation: string, entity: string): string;
}

export function createFacts(config: WorldConfig): Facts {
  const { seed } = config;
  const taken = new Set<string>([...SPECIALISTS, UNKNOWN]);
  const relations = makeNames(config.relations, taken, seed, PURPOSE.relations);
  relations.forEach((name) => taken.add(name));
  const entities = makeNames(config.entities, taken, seed, PURPOSE.entities);
  const place = new Map([...entities, ...relations].map((name) => [name, hashText(name)]));
  const index = new Map(entities.map((name, i) => [name, i]));

  const order = createRandom(seed, PURPOSE.owners).shuffle(relations);
  const counts = shareOut(config.relations);
  const owner = new Map<string, string>();
  let next = 0;
  SPECIALISTS.forEach((name, i) => {
    for (let n = 0; n < counts[i]!; n++) owner.set(order[next++]!, name);
  });
  const decoys = createRandom(seed, PURPOSE.decoy);
  const decoy = new Map(
    relations.map((relation) => [
      relation,
      decoys.pick(SPECIALISTS.filter((name) => name !== owner.get(relation))),
    ]),
  );
  const ranks = createRandom(seed, PURPOSE.prices).shuffle(SPECIALISTS.map((_, i) => i));
  const candidates = SPECIALISTS.map((name, i): Candidate => {
    const step = (DEAREST_PICO - CHEAPEST_PICO) / (SPECIALISTS.length - 1);
    const promptPico = Math.round((CHEAPEST_PICO + step * ranks[i]!) / UNITS_PER_CALL);
    return {
      name,
      description: `knows ${
        relations.filter((relation) => owner.get(relation) === name).join(", ")
      }`,
      account: "world",
      price: {
        promptPico,
        completionPico: COMPLETION_RATIO * promptPico,
        version: `world-${seed}`,
      },
    };
  });
  return {
    config,
    entities,
    relations,
    candidates,
    owner,
    decoy,
    placeOf: (entity) => index.get(entity),
    follow: (relation, entity) => {
      const from = index.get(entity)!;
      const jump = 1 + hash32(seed, PURPOSE.fact, place.get(relation)!, place.get(entity)!) %
          (entities.length - 1);
      return entities[(from + jump) % entities.length]!;
    },
  };
}

/** One relation each, the rest by SHARES with the largest remainders. */
function shareOut(relations: number): number[] {
  const spare = relations - SHARES.length;
  const exact = SHARES.map((share) => (share - 1) * spare / 8);
  const counts = exact.map((part) => 1 + Math.floor(part));
  const byRemainder = exact.map((part, i) => ({ i, rest: part - Math.floor(part) }))
    .sort((a, b) => b.rest - a.rest || a.i - b.i);
  const missing = relations - counts.reduce((sum, n) => sum + n, 0);
  for (let n = 0; n < missing; n++) counts[byRemainder[n]!.i]!++;
  return counts;
}

/** A question as hops: `r2 of r1 of e` is [r1, r2] of e; null when the text is no question of this world. */
export function parseQuestion(
  facts: Facts,
  text: string,
): { entity: string; hops: string[] } | null {
  const parts = text.trim().toLowerCase().split(" of ");
  const entity = parts.pop() ?? "";
  const known = facts.placeOf(entity) !== undefined && parts.length > 0 &&
    parts.every((part) => facts.owner.has(part));
  return known ? { entity, hops: parts.reverse() } : null;
}

/**
 * What a specialist says to any text: the truth when it owns every relation asked, else, fixed by world,
 * model and text, "unknown" half of the time and a wrong entity otherwise.
 */
export function answerQuestion(facts: Facts, model: string, text: string): string {
  const question = parseQuestion(facts, text);
  if (question === null) return UNKNOWN;
  const truth = question.hops.reduce((entity, hop) => facts.follow(hop, entity), question.entity);
  if (question.hops.every((hop) => facts.owner.get(hop) === model)) return truth;
  const counters = [facts.config.seed, hashText(model), hashText(text.trim().toLowerCase())];
  if (uniformAt(PURPOSE.decline, ...counters) < 0.5) return UNKNOWN;
  const { entities } = facts;
  const jump = 1 + hash32(PURPOSE.wrong, ...counters) % (entities.length - 1);
  return entities[(facts.placeOf(truth)! + jump) % entities.length]!;
}

/** Words, which are this world's tokens. */
export function countTokens(text: string): number {
  return text.split(/\s+/).filter((word) => word !== "").length;
}

/** Tokens this world bills for a question and its reply. */
export function usageOf(
  question: string,
  reply: string,
): { promptTokens: number; completionTokens: number } {
  return {
    promptTokens: TEMPLATE_TOKENS + countTokens(question),
    completionTokens: countTokens(reply),
  };
}
