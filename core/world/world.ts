import type { WorldConfig } from "../../configs/world.ts";
import { createRandom, hash32, hashText } from "../random.ts";
import type { Candidate } from "../routing/mod.ts";
import { generateNames } from "./names.ts";

/** A model that knows every fact of its own relations and of no other. */
export interface Specialist {
  readonly index: number;
  readonly candidate: Candidate;
  readonly relations: ReadonlySet<string>;
}

/** Names, knowledge and prices; facts are computed, never stored. */
export interface World {
  readonly config: WorldConfig;
  readonly entities: readonly string[];
  readonly relations: readonly string[];
  /** Numbers of the names in their lists. */
  readonly entityIndex: ReadonlyMap<string, number>;
  readonly relationIndex: ReadonlyMap<string, number>;
  readonly specialists: ReadonlyMap<string, Specialist>;
  /** Which specialist knows a relation. */
  readonly owners: ReadonlyMap<string, Specialist>;
}

/** How many relations specialists own beyond their first, of 8. */
const EXTRA_SHARES = [3, 2, 1, 1, 1, 0, 0, 0] as const;

const FACT = hashText("fact");
const OWNERSHIP = hashText("ownership");
const PRICES = hashText("prices");

/** Prices of a one-hop call, from the cheapest specialist to the dearest, in pico-dollars: $0.0002 … $0.0010. */
const CHEAPEST_PICO = 2e8;
const DEAREST_PICO = 1e9;

/** The world of a config; the same config gives the same world. */
export function buildWorld(config: WorldConfig): World {
  const { seed } = config;
  const entities = generateNames("entity", { seed, count: config.entities });
  const relations = generateNames("relation", { seed, count: config.relations });
  const specialists = buildSpecialists(seed, relations);
  return {
    config,
    entities,
    relations,
    entityIndex: new Map(entities.map((name, i) => [name, i])),
    relationIndex: new Map(relations.map((name, i) => [name, i])),
    specialists: new Map(specialists.map((one) => [one.candidate.name, one])),
    owners: new Map(
      specialists.flatMap((one) => [...one.relations].map((relation) => [relation, one])),
    ),
  };
}

/**
 * How many of the relations each of the eight specialists owns: one each, the rest by largest remainder
 * in shares of 3, 2, 1, 1, 1, 0, 0, 0; so 16 are 4, 3, 2, 2, 2, 1, 1, 1. Needs at least 8.
 */
export function shareRelations(count: number): number[] {
  const quotas = EXTRA_SHARES.map((share) => (count - EXTRA_SHARES.length) * share / 8);
  const owned = quotas.map((quota) => 1 + Math.floor(quota));
  const rest = count - owned.reduce((sum, n) => sum + n, 0);
  const byRemainder = quotas.map((quota, i) => ({ i, remainder: quota % 1 }))
    .sort((a, b) => b.remainder - a.remainder || a.i - b.i);
  for (const { i } of byRemainder.slice(0, rest)) owned[i] = owned[i]! + 1;
  return owned;
}

/** The entity a fact names, never the one it is about. The names must be of this world. */
export function factOf(world: World, relation: string, entity: string): string {
  const about = world.entityIndex.get(entity)!;
  const draw = hash32(world.config.seed, FACT, world.relationIndex.get(relation)!, about);
  const other = Math.floor(draw / 2 ** 32 * (world.entities.length - 1));
  return world.entities[other < about ? other : other + 1]!;
}

function buildSpecialists(seed: number, relations: readonly string[]): Specialist[] {
  const owned = shareRelations(relations.length);
  const deck = createRandom(seed, OWNERSHIP).shuffle(relations);
  const ranks = createRandom(seed, PRICES).shuffle(owned.map((_, rank) => rank));
  return generateNames("specialist", { seed, count: owned.length }).map((name, index) => ({
    index,
    candidate: toCandidate(name, { seed, rank: ranks[index]! / (owned.length - 1) }),
    relations: new Set(deck.splice(0, owned[index]!)),
  }));
}

/** A one-hop question has 3 tokens and its reply 1: with a prompt token at a tenth, 3 · 0.1 + 0.7 = 1 price. */
function toCandidate(name: string, { seed, rank }: { seed: number; rank: number }): Candidate {
  const promptPico = Math.round((CHEAPEST_PICO + rank * (DEAREST_PICO - CHEAPEST_PICO)) / 10);
  return {
    name,
    description: "a specialist of the generated world",
    account: "world",
    price: { promptPico, completionPico: 7 * promptPico, version: `world-${seed}` },
  };
}
