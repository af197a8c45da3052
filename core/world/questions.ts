import type { Problem } from "../data/mod.ts";
import { createRandom, hashText } from "../random.ts";
import { factOf, type World } from "./world.ts";

/** A question: the relations to follow, in the order of asking, from an entity. */
export interface Chain {
  readonly relations: readonly string[];
  readonly entity: string;
}

/** Shares of the (entity, relation) pairs, in percent; the test questions have what is left. */
const TRAIN_SHARE = 70;
const DEV_SHARE = 10;

const SPLIT = hashText("split of pairs");
const TWO_HOP = hashText("two-hop questions");

/** `r of e`, or `r2 of r1 of e`: the relation asked first stands last. */
export function formatChain({ relations, entity }: Chain): string {
  return [...relations.toReversed(), entity].join(" of ");
}

/** The chain a text asks for, white space around it aside; null when it is no question of this world. */
export function parseChain(world: World, text: string): Chain | null {
  const words = text.trim().split(" of ");
  const entity = words.pop()!;
  const known = words.length > 0 && world.entityIndex.has(entity) &&
    words.every((word) => world.relationIndex.has(word));
  return known ? { relations: words.reverse(), entity } : null;
}

/** Where the chain leads. */
export function resolveChain(world: World, { relations, entity }: Chain): string {
  return relations.reduce((at, relation) => factOf(world, relation, at), entity);
}

/**
 * The questions of a split, one-hop and two-hop in turn; a smaller split is the beginning of a larger
 * one. No two splits share the pair (entity, first relation) of a question, and no answer is the entity
 * the question names.
 */
export function generateProblems(world: World, split: Problem["split"]): Problem[] {
  const pairs = pairsOf(world, split);
  const { seed } = world.config;
  const shuffled = createRandom(seed, TWO_HOP, hashText(split)).shuffle(pairs);
  return Array.from({ length: world.config[`${split}_size`] }, (_, i) => {
    const at = i >> 1;
    const chain = i % 2 === 0 ? pairs[at]! : extend(world, shuffled[at]!, at);
    return {
      id: `${split}-${String(i).padStart(5, "0")}`,
      data_source: "world",
      split,
      question: formatChain(chain),
      golden_answers: [resolveChain(world, chain)],
      extra_info: { hops: chain.relations.length },
    };
  });
}

/** The one-hop chains that questions of the split begin with, shuffled. */
function pairsOf(world: World, split: Problem["split"]): Chain[] {
  const all = world.relations.flatMap((relation) =>
    world.entities.map((entity): Chain => ({ relations: [relation], entity }))
  );
  const train = Math.floor(all.length * TRAIN_SHARE / 100);
  const dev = Math.floor(all.length * DEV_SHARE / 100);
  const [from, to] = {
    train: [0, train],
    dev: [train, train + dev],
    test: [train + dev, all.length],
  }[split] as [number, number];
  return createRandom(world.config.seed, SPLIT).shuffle(all).slice(from, to);
}

/** A second hop that does not lead back. */
function extend(world: World, { relations, entity }: Chain, at: number): Chain {
  const random = createRandom(world.config.seed, TWO_HOP, at);
  const chains = random.shuffle(world.relations)
    .map((second) => ({ relations: [...relations, second], entity }));
  return chains.find((chain) => resolveChain(world, chain) !== entity)!;
}
