import { MISTAKES, PROTOCOL_PIECES } from "../rollouts/mod.ts";
import { type Facts, UNKNOWN } from "./facts.ts";

/** The one special token of a world's tokenizer: end of text and padding. */
export const END_OF_TEXT = "<|endoftext|>";

/**
 * A `tokenizer.json` (Hugging Face) whose words are the world's names and the protocol's pieces, with
 * bytes for everything else, so that every text has ids and an action takes few.
 */
export function createTokenizerJson(facts: Facts): string {
  const bytes = byteAlphabet();
  const words = [
    ...PROTOCOL_PIECES,
    ...Object.values(MISTAKES),
    " of ",
    UNKNOWN,
    ...["1", "2", "3", "4", "5", "6", "7", "8", "9"],
    ...facts.candidates.map(({ name }) => name),
    ...facts.relations,
    ...facts.entities,
  ];
  const pieces = [END_OF_TEXT, ...new Set(words)];
  return JSON.stringify({
    version: "1.0",
    truncation: null,
    padding: null,
    added_tokens: pieces.map((content, i) => ({
      id: bytes.length + i,
      content,
      single_word: false,
      lstrip: false,
      rstrip: false,
      normalized: false,
      special: content === END_OF_TEXT,
    })),
    normalizer: null,
    pre_tokenizer: {
      type: "ByteLevel",
      add_prefix_space: false,
      trim_offsets: true,
      use_regex: false,
    },
    post_processor: null,
    decoder: { type: "ByteLevel", add_prefix_space: true, trim_offsets: true, use_regex: true },
    model: {
      type: "BPE",
      dropout: null,
      unk_token: null,
      continuing_subword_prefix: null,
      end_of_word_suffix: null,
      fuse_unk: false,
      byte_fallback: false,
      ignore_merges: false,
      vocab: Object.fromEntries(bytes.map((letter, i) => [letter, i])),
      merges: [],
    },
  });
}

/** The printable letter that stands for each byte in a byte-level vocabulary, as GPT-2 assigns them. */
function byteAlphabet(): string[] {
  const printable = (b: number) => (b >= 33 && b <= 126) || (b >= 161 && b <= 172) || b >= 174;
  let moved = 0;
  return Array.from(
    { length: 256 },
    (_, b) => String.fromCharCode(printable(b) ? b : 256 + moved++),
  );
}
