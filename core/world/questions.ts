import type { Problem } from "../data/problems.ts";
import { createRandom } from "../random.ts";
import type { Facts } from "./facts.ts";

type Split = Problem["split"];
const SPLITS = ["train", "dev", "test"] as const;
/** Parts of the (entity, relation) pairs whose questions belong to a split. */
const PARTS = { train: 0.7, dev: 0.1, test: 0.2 } as const;
const PAIRS = 0x70616972;
const PICKS = 0x7069636b;

/** The hops of a generated question, kept in `extra_info`. */
export interface Hops {
  readonly entity: string;
  readonly hops: readonly string[];
}

/** Questions by split: a split's first pairs (entity, first relation) occur in no other split. */
export function createQuestions(facts: Facts): Record<Split, readonly Problem[]> {
  const { config, entities, relations } = facts;
  const pairs = createRandom(config.seed, PAIRS).shuffle(
    entities.flatMap((entity) => relations.map((relation) => [entity, relation] as const)),
  );
  const sizes = {
    train: config.train_questions,
    dev: config.dev_questions,
    test: config.test_questions,
  };
  let from = 0;
  const bySplit = SPLITS.map((split, at) => {
    const count = Math.round(pairs.length * PARTS[split]);
    const own = pairs.slice(from, from + count);
    from += count;
    const random = createRandom(config.seed, PICKS, at);
    const seen = new Set<string>();
    const problems: Problem[] = [];
    // One and two hops take turns; a draw that is already there is drawn again, a bounded number of times.
    for (let tries = 0; problems.length < sizes[split] && tries < 50 * sizes[split]; tries++) {
      const [entity, first] = random.pick(own);
      const hops = problems.length % 2 === 0 ? [first] : [first, random.pick(relations)];
      const problem = toProblem(facts, split, { entity, hops });
      if (seen.has(problem.question) || problem.golden_answers[0] === entity) continue;
      seen.add(problem.question);
      problems.push(problem);
    }
    return [split, problems] as const;
  });
  return Object.fromEntries(bySplit) as Record<Split, Problem[]>;
}

function toProblem(facts: Facts, split: Split, { entity, hops }: Hops): Problem {
  const question = [...hops].reverse().concat(entity).join(" of ");
  return {
    id: `world-${facts.config.seed}/${question.replaceAll(" ", "-")}`,
    data_source: "world",
    split,
    question,
    golden_answers: [hops.reduce((at, hop) => facts.follow(hop, at), entity)],
    extra_info: { entity, hops },
  };
}

/** The hops a problem of a world was made from. */
export function hopsOf(problem: Problem): Hops {
  return problem.extra_info as unknown as Hops;
}
