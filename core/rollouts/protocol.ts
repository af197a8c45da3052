import type { Problem } from "../data/mod.ts";

/** What one turn of the policy says. */
export type TurnAction =
  | {
    readonly kind: "route";
    readonly model: string;
    /** Null sends the user's question as it is. */
    readonly question: string | null;
  }
  | { readonly kind: "answer"; readonly text: string }
  | {
    readonly kind: "quote";
    /** 1 for the first reply of the trajectory. */
    readonly reply: number;
  }
  | { readonly kind: "mistake"; readonly code: string };

/** A turn grammar: what the policy may write and what it gets to read. */
export interface Protocol {
  readonly name: string;
  /** Generation of a turn stops once its text ends with one of these. */
  readonly stopStrings: readonly string[];
  /** What a trajectory begins with. */
  prompt(problem: Problem): string;
  /** Total: every text is an action, perhaps a mistake. */
  parseTurn(text: string): TurnAction;
  /** The fenced text a reply becomes; no reply can forge a tag. */
  observe(
    reply: { readonly text: string; readonly outcome: "answered" | "content_filter" },
  ): string;
  /** The fenced text a mistake becomes. */
  correct(code: string): string;
}
