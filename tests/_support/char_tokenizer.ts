import type { Tokenizer } from "../../core/policy/tokenizer.ts";

/** One token for each code point; id 0 ends a text. */
export const charTokenizer: Tokenizer = {
  vocabularySize: 0x110000,
  endOfText: 0,
  encode: (text) => Array.from(text, (character) => character.codePointAt(0)!),
  decode: (ids) => ids.map((id) => String.fromCodePoint(id)).join(""),
};
