/**
 * The normalisation and exact match of SQuAD's evaluation script, as open-domain QA uses it. Python's
 * notions of word boundary and white space are spelled out, since JavaScript's `\b` and `\s` differ:
 * combining marks are no word characters, U+001C–001F and U+0085 are white space, U+FEFF is not.
 */

const PUNCTUATION = /[!-/:-@[-`{-~]/g;
const ARTICLES = /(?<![\p{L}\p{N}_])(?:a|an|the)(?![\p{L}\p{N}_])/gu;
// deno-lint-ignore no-control-regex -- Python's str.split() splits at these controls
const BLANKS = /[\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+/g;

/** Lower case, without ASCII punctuation and the words a, an, the, single blanks between words. */
export function normalizeAnswer(text: string): string {
  return text.toLowerCase().replace(PUNCTUATION, "").replace(ARTICLES, " ")
    .split(BLANKS).filter((word) => word !== "").join(" ");
}

/** 1 if the answer equals a golden one after normalisation, else 0; 0 without golden answers. */
export function exactMatch(answer: string, goldenAnswers: readonly string[]): 0 | 1 {
  const normal = normalizeAnswer(answer);
  return goldenAnswers.some((golden) => normalizeAnswer(golden) === normal) ? 1 : 0;
}

/** Whether the normalised part stands in the normalised whole, word boundaries or not; an empty part always does. */
export function containsAnswer(whole: string, part: string): boolean {
  return normalizeAnswer(whole).includes(normalizeAnswer(part));
}
