import { UNKNOWN } from "./replies.ts";
import type { World } from "./world.ts";

/** The text of the token that ends a text and fills rows up. */
export const END_OF_TEXT = "<|endoftext|>";

/**
 * A `tokenizer.json` (Hugging Face form) in which each name of the world and each given text of the
 * protocol is one token. Any other text falls to byte tokens, so every text can be encoded and comes
 * back the same. Ids: 0 ends a text, then 256 bytes, then the words in order.
 */
export function buildTokenizerJson(world: World, protocolTexts: readonly string[]): string {
  const bytes = byteCharacters();
  const words = [
    ...protocolTexts,
    " of ",
    UNKNOWN,
    ...world.specialists.keys(),
    ...world.relations,
    ...world.entities,
  ];
  const toToken = (content: string, id: number) => ({
    id,
    content,
    single_word: false,
    lstrip: false,
    rstrip: false,
    normalized: false,
    special: content === END_OF_TEXT,
  });
  return JSON.stringify({
    version: "1.0",
    truncation: null,
    padding: null,
    added_tokens: [
      toToken(END_OF_TEXT, 0),
      ...words.map((word, i) => toToken(word, 1 + bytes.length + i)),
    ],
    normalizer: null,
    pre_tokenizer: {
      type: "ByteLevel",
      add_prefix_space: false,
      trim_offsets: true,
      use_regex: true,
    },
    post_processor: null,
    decoder: { type: "ByteLevel", add_prefix_space: false, trim_offsets: true, use_regex: true },
    model: {
      type: "BPE",
      dropout: null,
      unk_token: null,
      continuing_subword_prefix: null,
      end_of_word_suffix: null,
      fuse_unk: false,
      byte_fallback: false,
      ignore_merges: false,
      vocab: Object.fromEntries([END_OF_TEXT, ...bytes].map((text, id) => [text, id])),
      merges: [],
    },
  });
}

/**
 * The characters that stand for bytes 0 … 255 in byte-level BPE (GPT-2's table): printable Latin-1
 * characters stand for themselves, the others for U+0100 on, in order.
 */
function byteCharacters(): string[] {
  let next = 0x100;
  return Array.from({ length: 256 }, (_, byte) => {
    const printable = (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte !== 0xad);
    return String.fromCharCode(printable ? byte : next++);
  });
}
