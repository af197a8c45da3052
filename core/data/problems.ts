/** A question with its known answers. Field names follow the rows of verl's datasets. */
export interface Problem {
  readonly id: string;
  readonly data_source: string;
  readonly split: "train" | "dev" | "test";
  readonly question: string;
  readonly golden_answers: readonly string[];
  /** What the environment knows beside the answers (hops of a generated question, recorded verdicts). */
  readonly extra_info: Readonly<Record<string, unknown>>;
}
