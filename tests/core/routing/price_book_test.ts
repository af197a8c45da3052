import assert from "node:assert/strict";
import { InvalidConfigError } from "../../../core/errors.ts";
import { parsePriceBook } from "../../../core/routing/price_book.ts";

const book = (prompt: unknown) => ({
  version: "2026-11-30",
  models: { small: { prompt_usd_per_million: prompt, completion_usd_per_million: 0.6 } },
});

Deno.test("parsePriceBook() turns dollars per million tokens into pico-dollars per token", () => {
  const price = { promptPico: 150_000, completionPico: 600_000, version: "2026-11-30" };
  assert.deepEqual(parsePriceBook(book(0.15)).get("small"), price);
});

Deno.test("parsePriceBook() names what is wrong", () => {
  const wrong = [book("cheap"), book(-1), book(0.00000001), { ...book(1), version: "soon" }, null];
  for (const value of wrong) assert.throws(() => parsePriceBook(value), InvalidConfigError);
  assert.throws(() => parsePriceBook(book("cheap")), /models\.small\.prompt_usd_per_million/);
});
