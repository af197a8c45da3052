import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createTokenizer } from "../../../adapters/policy/tokenizer.ts";
import { InvalidConfigError } from "../../../core/errors.ts";
import { TOKENIZER_JSON } from "../../_support/tiny_policy.ts";

const REPLAY = new URL("../../../configs/data/replay_nq/tokenizer.json", import.meta.url);

Deno.test("createTokenizer() reads texts and tags back as they were", async () => {
  const tokenizer = createTokenizer(await readFile(REPLAY, "utf8"), "<|endoftext|>");
  const texts = [
    "who wrote the opera , and when ?",
    '<question>is n\'t it 1 , 000</question><route model="a"/>',
    "  two  blanks é ☃",
    "<|endoftext|>",
  ];
  for (const text of texts) assert.equal(tokenizer.decode(tokenizer.encode(text)), text);
  assert.deepEqual(tokenizer.encode("<|endoftext|>"), [tokenizer.endOfText]);
  const ids = tokenizer.encode(texts.join(""));
  assert.ok(Math.max(...ids) < tokenizer.vocabularySize);
});

Deno.test("createTokenizer() counts every id and decodes nothing to nothing", () => {
  const tokenizer = createTokenizer(TOKENIZER_JSON, "<|end|>");
  assert.equal(tokenizer.vocabularySize, 30);
  assert.equal(tokenizer.decode([]), "");
  assert.equal(tokenizer.decode([1, 27, 0]), "a<<|end|>");
});

Deno.test("createTokenizer() says which token is missing, or that it is no tokenizer", () => {
  assert.throws(() => createTokenizer(TOKENIZER_JSON, "</s>"), (error) => {
    assert.ok(error instanceof InvalidConfigError);
    assert.match(error.message, /end-of-text token "<\/s>"/);
    return true;
  });
  assert.throws(() => createTokenizer("{", "</s>"), InvalidConfigError);
  assert.throws(() => createTokenizer("{}", "</s>"), InvalidConfigError);
});
