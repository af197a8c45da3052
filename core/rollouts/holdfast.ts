import type { Problem } from "../data/mod.ts";
import { escapeText, unescapeText } from "./markup.ts";
import { type MistakeCode, MISTAKES } from "./mistakes.ts";
import type { Protocol, TurnAction } from "./protocol.ts";

/**
 * The texts tags are made of. A small vocabulary gives each its own token: an action then costs a
 * handful of tokens.
 */
export const PROTOCOL_PIECES: readonly string[] = [
  "<question>",
  "</question>",
  '<route model="',
  '"/>',
  '">',
  "</route>",
  "<answer>",
  "</answer>",
  '<answer from="',
  "<information>",
  "</information>",
  "<error>",
  "</error>",
];

/** What the policy reads in the place of a reply that a content filter withheld. */
const WITHHELD = "The reply was withheld";

const ACTION = new RegExp(
  [
    '<route model="(?<sent>[^"<>]*)"/>',
    '<route model="(?<asked>[^"<>]*)">(?<question>[^<]*)</route>',
    '<answer from="(?<reply>[^"<>]*)"/>',
    "<answer>(?<text>[^<]*)</answer>",
  ].join("|"),
  "g",
);
const TAG = /<\/?(?:question|route|answer|information|error)\b/;

/**
 * The engine's own grammar. A turn is free text, then exactly one of
 * `<route model="NAME">QUESTION</route>`, `<route model="NAME"/>` (the user's question as it is),
 * `<answer>TEXT</answer>` and `<answer from="N"/>` (reply N, counted from 1, word for word). Replies come
 * back in `<information>`, mistakes in `<error>`; texts inside tags are escaped.
 */
export const holdfastProtocol: Protocol = {
  name: "holdfast",
  stopStrings: ["</route>", "</answer>", '"/>'],
  prompt: (problem: Problem) => `<question>${escapeText(problem.question)}</question>`,
  parseTurn,
  observe: ({ text, outcome }) =>
    `<information>${
      escapeText(outcome === "content_filter" ? WITHHELD : text.trim())
    }</information>`,
  correct: (code) => `<error>${isMistake(code) ? MISTAKES[code] : code}</error>`,
};

function isMistake(code: string): code is MistakeCode {
  return Object.hasOwn(MISTAKES, code);
}

function mistake(code: MistakeCode): TurnAction {
  return { kind: "mistake", code };
}

function parseTurn(text: string): TurnAction {
  const found = [...text.matchAll(ACTION)];
  const [match] = found;
  if (match === undefined) return mistake("not_a_call");
  if (found.length > 1) return mistake("two_calls");
  const before = text.slice(0, match.index);
  const after = text.slice(match.index + match[0].length);
  if (TAG.test(before) || TAG.test(after)) return mistake("stray_tag");
  if (after.trim() !== "") return mistake("stray_text");
  return toAction(match.groups!);
}

function toAction(groups: Record<string, string | undefined>): TurnAction {
  const read = (name: string) => unescapeText(groups[name] ?? "").trim();
  if (groups["sent"] !== undefined) {
    return { kind: "route", model: read("sent"), question: null };
  }
  if (groups["asked"] !== undefined) {
    const question = read("question");
    if (question === "") return mistake("empty_question");
    return { kind: "route", model: read("asked"), question };
  }
  if (groups["reply"] !== undefined) {
    const digits = read("reply");
    // 6 digits: a number far above any count of replies that is still a safe integer
    if (!/^[1-9][0-9]{0,5}$/.test(digits)) return mistake("no_such_reply");
    return { kind: "quote", reply: Number(digits) };
  }
  const answer = read("text");
  return answer === "" ? mistake("empty_answer") : { kind: "answer", text: answer };
}
