import assert from "node:assert/strict";
import { createRunFolder } from "../../../adapters/storage/run_folder.ts";
import { InvalidConfigError } from "../../../core/errors.ts";
import { withFolder } from "./_folder.ts";

const STEP = "training/global_step";
const CONFIG = {
  preset: "micro",
  config: { trainer: { seed: 2 } },
  hardware: "here",
  moved: false,
};

/** The lines of a run's metrics. */
function linesOf(file: string): unknown[] {
  const text = Deno.readTextFileSync(file);
  assert.ok(text.endsWith("\n"));
  return text.trimEnd().split("\n").map((line) => JSON.parse(line));
}

Deno.test("appendMetrics() adds one line for each kind and step", () =>
  withFolder(async (dir) => {
    const folder = createRunFolder(dir);
    const lines = [
      { kind: "train", [STEP]: 1, reward: 0.5 },
      { kind: "val-dev", [STEP]: 1, regret: 0.2 },
      { kind: "train", [STEP]: 2, reward: 0.6 },
    ];
    for (const line of lines) await folder.appendMetrics("a", line);
    for (const line of lines) await folder.appendMetrics("a", { ...line, again: 1 });
    assert.deepEqual(linesOf(folder.path("a", "metrics.jsonl")), lines);
  }));

Deno.test("appendMetrics() takes away a line that a crash tore, and writes it whole", () =>
  withFolder(async (dir) => {
    const folder = createRunFolder(dir);
    const file = folder.path("a", "metrics.jsonl");
    const [one, two] = [{ kind: "train", [STEP]: 1 }, { kind: "train", [STEP]: 2 }];
    await folder.appendMetrics("a", one);
    const whole = Deno.readTextFileSync(file);
    for (const torn of ['{"kind":"train","tr', "\0\0\0", JSON.stringify(two)]) {
      Deno.writeTextFileSync(file, whole + torn);
      await folder.appendMetrics("a", two);
      assert.deepEqual(linesOf(file), [one, two]);
    }
    Deno.writeTextFileSync(file, '{"kind"');
    await folder.appendMetrics("a", one);
    assert.deepEqual(linesOf(file), [one]);
  }));

Deno.test("createRunFolder() keeps a run's files until it is removed", () =>
  withFolder(async (dir) => {
    const folder = createRunFolder(`${dir}/runs`);
    assert.deepEqual(await folder.list(), []);
    assert.equal(await folder.readConfig("b"), null);
    await folder.writeConfig("b", CONFIG);
    await folder.writeJson("a", "summary.json", { step: 3 });
    await folder.writeJson("a", "summary.json", { step: 4 });
    assert.deepEqual(await folder.readConfig("b"), CONFIG);
    assert.deepEqual(await folder.readJson("a", "summary.json"), { step: 4 });
    assert.equal(await folder.readJson("b", "summary.json"), null);
    assert.deepEqual([...Deno.readDirSync(folder.path("a"))].map(({ name }) => name), [
      "summary.json",
    ]);
    assert.deepEqual(await folder.list(), ["a", "b"]);
    await folder.remove("a");
    await folder.remove("a");
    assert.deepEqual(await folder.list(), ["b"]);
    Deno.writeTextFileSync(folder.path("b", "config.json"), "{");
    await assert.rejects(folder.readConfig("b"), InvalidConfigError);
  }));

Deno.test("path() refuses names that are no folder or no workflow id", () => {
  const folder = createRunFolder("/nowhere");
  for (
    const name of ["", ".", "..", "../a", "a/b", "-a", ".a", "a b", "a\0", "é", "x".repeat(65)]
  ) {
    assert.throws(() => folder.path(name), InvalidConfigError, JSON.stringify(name));
  }
  for (const name of ["a", "A1", "run_2.b-c", "x".repeat(64)]) {
    assert.equal(folder.path(name, "log"), `/nowhere/${name}/log`);
  }
});
