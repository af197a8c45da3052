import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { containsAnswer, exactMatch, normalizeAnswer } from "../../../core/rewards/mod.ts";

interface Vector {
  readonly prediction: string;
  readonly golden_answers: readonly string[];
  readonly normalized: string;
  readonly em: number;
  readonly subem: number;
}

Deno.test("exactMatch() agrees with the original script on every vector", async () => {
  const file = new URL("../../_vectors/answer_metrics.jsonl", import.meta.url);
  const vectors = (await readFile(file, "utf8")).split("\n").filter((line) => line !== "")
    .map((line): Vector => JSON.parse(line));
  assert.equal(vectors.length, 60);
  for (const { prediction, golden_answers, normalized, em, subem } of vectors) {
    const about = JSON.stringify({ prediction, golden_answers });
    assert.equal(normalizeAnswer(prediction), normalized, about);
    assert.equal(exactMatch(prediction, golden_answers), em, about);
    assert.equal(
      Number(golden_answers.some((golden) => containsAnswer(prediction, golden))),
      subem,
      about,
    );
  }
});

Deno.test("normalizeAnswer() knows words and blanks as Python does", () => {
  const cases = [
    ["The  Beatles!", "beatles"],
    ["An-apple a day", "anapple day"],
    ["año", "año"],
    ["théa", "théa"],
    ["a\u0301b", "\u0301b"],
    ["“Beijing”", "“beijing”"],
    ["x\u00a0y\u0085z\u001fw", "x y z w"],
    ["x\ufeffy", "x\ufeffy"],
    ["５", "５"],
    ["the a an", ""],
  ] as const;
  for (const [text, normal] of cases) assert.equal(normalizeAnswer(text), normal, text);
});

Deno.test("exactMatch() is 0 without golden answers", () => {
  assert.equal(exactMatch("", []), 0);
  assert.equal(exactMatch("The", ["a"]), 1);
});
