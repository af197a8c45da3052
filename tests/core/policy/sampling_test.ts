import assert from "node:assert/strict";
import { NotFiniteError } from "../../../core/errors.ts";
import { likeliestToken, sampleToken } from "../../../core/policy/mod.ts";
import { uniformAt } from "../../../core/random.ts";

const distribution = (...probabilities: readonly number[]) => ({
  probabilities: Float32Array.from(probabilities),
  logProbs: Float32Array.from(probabilities, Math.log),
});

Deno.test("sampleToken() inverts the distribution function in order of ids", () => {
  const half = distribution(0.25, 0.5, 0, 0.25);
  const at = (uniform: number) => sampleToken(half, uniform).token;
  assert.deepEqual([0, 0.2499, 0.25, 0.7499, 0.75, 1 - 2 ** -53].map(at), [0, 0, 1, 1, 3, 3]);
  assert.equal(sampleToken(half, 0.5).logProb, Math.fround(Math.log(0.5)));
});

Deno.test("sampleToken() never draws a token without a share, at either end", () => {
  const inner = distribution(0, 0.5, 0.5, 0);
  assert.equal(sampleToken(inner, 0).token, 1);
  assert.equal(sampleToken(inner, 1 - 2 ** -53).token, 2);
});

Deno.test("sampleToken() draws tokens as often as they are likely", () => {
  const counts = [0, 0, 0];
  for (let i = 0; i < 20_000; i++) {
    counts[sampleToken(distribution(0.2, 0.7, 0.1), uniformAt(7, i)).token]!++;
  }
  // five standard deviations of a count are below 330
  [4000, 14_000, 2000].forEach((expected, id) => assert.ok(Math.abs(counts[id]! - expected) < 330));
});

Deno.test("sampleToken() and likeliestToken() refuse what is not a distribution", () => {
  assert.throws(() => sampleToken(distribution(0.5, NaN), 0.1), NotFiniteError);
  assert.throws(() => sampleToken(distribution(0, 0), 0.1), NotFiniteError);
  assert.throws(() => likeliestToken(Float32Array.of(NaN, NaN)), NotFiniteError);
});

Deno.test("likeliestToken() takes the lowest id among equals", () => {
  assert.deepEqual(likeliestToken(Float32Array.of(-3, -1, -1)), { token: 1, logProb: -1 });
});
