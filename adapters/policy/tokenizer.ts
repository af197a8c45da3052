import { Tokenizer as HuggingFaceTokenizer } from "@huggingface/tokenizers";
import { InvalidConfigError } from "../../core/errors.ts";
import type { Tokenizer } from "../../core/policy/mod.ts";

/**
 * The tokenizer of a `tokenizer.json`. Encoding adds no special tokens of its own; decoding keeps every
 * token's text, special ones included, and no ids give no text. Throws InvalidConfigError when the text is not a
 * tokenizer or lacks the end-of-text token.
 */
export function createTokenizer(tokenizerJson: string, endOfText: string): Tokenizer {
  const inner = read(tokenizerJson);
  const end = inner.token_to_id(endOfText);
  if (end === undefined) {
    throw new InvalidConfigError(
      `Cannot use tokenizer.json: the end-of-text token "${endOfText}" is not in it; name one of its tokens`,
    );
  }
  const ids = [...inner.get_vocab(true).values()];
  return {
    vocabularySize: ids.reduce((most, id) => Math.max(most, id), end) + 1,
    endOfText: end,
    encode: (text) => inner.encode(text, { add_special_tokens: false }).ids,
    decode: (tokens) =>
      tokens.length === 0 ? "" : inner.decode([...tokens], {
        skip_special_tokens: false,
        clean_up_tokenization_spaces: false,
      }),
  };
}

function read(tokenizerJson: string): HuggingFaceTokenizer {
  try {
    return new HuggingFaceTokenizer(JSON.parse(tokenizerJson), {
      clean_up_tokenization_spaces: false,
    });
  } catch (cause) {
    throw new InvalidConfigError(
      "Cannot use tokenizer.json: it is not in the Hugging Face form; export it again",
      { cause },
    );
  }
}
