import { z } from "zod";
import { InvalidConfigError } from "../errors.ts";
import { type Candidate, parsePriceBook, priceOf } from "../routing/mod.ts";
import { parseRecordedQuestions, type RecordedAnswer, type RecordedQuestion } from "./rows.ts";

const PoolDescription = z.strictObject({
  /** Name of the environment, such as `replay_nq`. */
  name: z.string().regex(/^[a-z0-9_]+$/),
  /** Files: paths below the folder of configs, or absolute ones. */
  questions: z.string(),
  tokenizer: z.string(),
  prices: z.string(),
  /** The text of the tokenizer's end-of-text token. */
  end_of_text: z.string(),
  candidates: z.array(z.strictObject({
    name: z.string().regex(/^[A-Za-z0-9+._-]+$/),
    description: z.string(),
  })).min(1),
  /** The baseline `cascade`: the check's answer where it holds the first's, else the fallback's. */
  cascade: z.strictObject({ first: z.string(), check: z.string(), fallback: z.string() }),
});
export type PoolDescription = z.infer<typeof PoolDescription>;

/** Everything a pool of recorded answers is. */
export interface RecordedPool {
  readonly name: string;
  readonly candidates: readonly Candidate[];
  readonly questions: readonly RecordedQuestion[];
  readonly tokenizerJson: string;
  readonly endOfText: string;
  readonly cascade: PoolDescription["cascade"];
}

/** Checks a pool's description (parsed JSON); throws InvalidConfigError. */
export function parsePoolDescription(value: unknown): PoolDescription {
  const parsed = PoolDescription.safeParse(value);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    throw new InvalidConfigError(
      `Cannot read the recorded pool: ${
        issue?.path.join(".") || "it"
      } is wrong (${issue?.message}); ` +
        `correct the file pool.replay names`,
    );
  }
  const { candidates, cascade } = parsed.data;
  const stranger = Object.values(cascade).find((name) =>
    candidates.every((candidate) => candidate.name !== name)
  );
  if (stranger === undefined) return parsed.data;
  throw new InvalidConfigError(
    `Cannot read the recorded pool: its cascade asks "${stranger}", which is no candidate; name one of ` +
      candidates.map(({ name }) => name).join(", "),
  );
}

/** Puts a pool together from its description and the texts of the files it names. */
export function createRecordedPool(
  description: PoolDescription,
  files: { readonly questions: string; readonly prices: unknown; readonly tokenizer: string },
): RecordedPool {
  const prices = parsePriceBook(files.prices);
  const candidates = description.candidates.map(({ name, description }): Candidate => {
    const price = prices.get(name);
    if (price === undefined) {
      throw new InvalidConfigError(
        `Cannot price "${name}": the price book has no such model; add it to the file the pool names as "prices"`,
      );
    }
    return { name, description, account: "replay", price };
  });
  return {
    name: description.name,
    candidates,
    questions: parseRecordedQuestions(files.questions, candidates.map(({ name }) => name)),
    tokenizerJson: files.tokenizer,
    endOfText: description.end_of_text,
    cascade: description.cascade,
  };
}

/** What asking a candidate this question costs, in pico-dollars. */
export function callCostPico(
  candidate: Candidate,
  question: RecordedQuestion,
  answer: RecordedAnswer,
): number {
  return priceOf(candidate.price, {
    promptTokens: question.tokens,
    completionTokens: answer.tokens,
  });
}
