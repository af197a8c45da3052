import assert from "node:assert/strict";
import { oneOf, readInput, settings, text } from "../../workflows/_input.ts";

interface Input {
  readonly preset?: string;
  readonly overrides?: readonly string[];
  readonly split?: string;
}
const read = (input: unknown, required: readonly string[] = []) =>
  readInput<Input>(
    "trainRouter",
    input,
    { preset: text, overrides: settings, split: oneOf("dev", "test") },
    required,
  );

Deno.test("readInput() takes what an operator may leave out as absent", () => {
  assert.deepEqual(read(undefined), {});
  assert.deepEqual(read(null), {});
  assert.deepEqual(read({ preset: "micro", overrides: null }), { preset: "micro" });
});

/** What is typed by hand, and the sentence it gets. */
const MISTAKES: readonly (readonly [unknown, RegExp])[] = [
  [
    { presett: "micro" },
    /Cannot start trainRouter: the input has a field "presett"; its fields are/,
  ],
  [{ toString: "micro" }, /the input has a field "toString"/],
  ["micro", /the input is "micro", must be one JSON object/],
  [["micro"], /the input is \["micro"\], must be one JSON object/],
  [{ preset: 7 }, /preset is 7, must be a text/],
  [{ overrides: "trainer.seed=2" }, /overrides is "trainer\.seed=2", must be a list such as/],
  [{ overrides: [5] }, /overrides is \[5\], must be a list/],
  [{ split: "tset" }, /split is "tset", must be "dev" or "test"/],
];
for (const [input, sentence] of MISTAKES) {
  Deno.test(`readInput() refuses ${JSON.stringify(input)} in one sentence`, () => {
    assert.throws(() => read(input), {
      type: "InvalidConfigError",
      nonRetryable: true,
      message: sentence,
    });
  });
}

Deno.test("readInput() names a field that is required", () => {
  assert.throws(
    () => read({}, ["preset"]),
    /the input lacks preset; its fields are preset, overrides/,
  );
});
