import type { Problem } from "../data/mod.ts";
import type { Candidate } from "../routing/mod.ts";
import type { Script } from "./scripts.ts";

/** Where problems come from and who can answer: the generated world, or recorded answers of real models. */
export interface Environment {
  readonly name: string;
  readonly candidates: readonly Candidate[];
  /** In a fixed order, the same in every process. */
  problems(split: "train" | "dev" | "test"): readonly Problem[];
  /** True where a candidate can only be asked the user's own question (recorded answers). */
  readonly verbatimOnly: boolean;
  /** A `tokenizer.json` (Hugging Face form) that covers the environment's texts. */
  readonly tokenizerJson: string;
  /** Text of the one end-of-text and padding token in it. */
  readonly endOfText: string;
  /** Names of the scripts a result is compared with, such as `fixed:NAME`, `random`, `cheapest`, `oracle`. */
  readonly baselines: readonly string[];
  /** The script of that name; also `demonstrator`. Throws RangeError on an unknown one. */
  script(name: string): Script;
  /** R*: the best reward any plan can reach on this problem, in the reward's own units. */
  optimum(problem: Problem, costCoe: number): number;
}
