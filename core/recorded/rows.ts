import { z } from "zod";
import { InvalidConfigError } from "../errors.ts";

const count = z.int().min(0);

const RecordedRow = z.strictObject({
  id: z.string().min(1),
  question: z.string().min(1),
  golden_answers: z.array(z.string()),
  split: z.enum(["train", "dev"]),
  /** Tokens of the question. */
  tokens: count,
  /** By candidate. */
  answers: z.record(
    z.string(),
    z.strictObject({
      /** Null where the source lost it. */
      text: z.string().nullable(),
      /** What people said of it. */
      correct: z.boolean(),
      tokens: count.nullable(),
    }),
  ),
});

/** What one candidate answered. */
export interface RecordedAnswer {
  readonly text: string;
  readonly correct: boolean;
  /** Tokens of the text. */
  readonly tokens: number;
}

/** A question with the answers of every candidate. */
export interface RecordedQuestion {
  readonly id: string;
  readonly question: string;
  readonly goldenAnswers: readonly string[];
  readonly split: "train" | "dev";
  /** Tokens of the question. */
  readonly tokens: number;
  readonly answers: ReadonlyMap<string, RecordedAnswer>;
}

/**
 * Reads JSON lines of recorded answers, split at "\n" alone. A question with a null answer is left out, for
 * not every candidate could be asked it. Throws InvalidConfigError on a row of another shape, on a
 * missing candidate and on a question that stands there twice.
 */
export function parseRecordedQuestions(
  text: string,
  candidates: readonly string[],
): RecordedQuestion[] {
  const rows = text.split("\n").map((line, i) => ({ line, number: i + 1 }))
    .filter(({ line }) => line !== "")
    .map(({ line, number }) => parseRow(line, number, candidates));
  const seen = new Set<string>();
  for (const { question } of rows) {
    if (seen.has(question)) throw unreadable(`"${question}" stands there twice`);
    seen.add(question);
  }
  return rows.filter(({ answers }) => answers.size === candidates.length);
}

function parseRow(line: string, number: number, candidates: readonly string[]): RecordedQuestion {
  const parsed = RecordedRow.safeParse(parseJson(line, number));
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    throw unreadable(`${issue?.path.join(".")} of line ${number} is wrong (${issue?.message})`);
  }
  const { id, question, golden_answers, split, tokens, answers } = parsed.data;
  const recorded = new Map<string, RecordedAnswer>();
  for (const name of candidates) {
    const answer = answers[name];
    if (answer === undefined) throw unreadable(`line ${number} has no answer of "${name}"`);
    const { text, correct, tokens } = answer;
    if (text !== null && tokens !== null) recorded.set(name, { text, correct, tokens });
  }
  return { id, question, goldenAnswers: golden_answers, split, tokens, answers: recorded };
}

function parseJson(line: string, number: number): unknown {
  try {
    return JSON.parse(line);
  } catch {
    throw unreadable(`line ${number} is no JSON`);
  }
}

function unreadable(state: string): InvalidConfigError {
  return new InvalidConfigError(
    `Cannot read recorded answers: ${state}; correct the file the pool names as "questions"`,
  );
}
