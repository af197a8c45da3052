import assert from "node:assert/strict";
import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createRunConfigs, hardwareOf } from "../../workers/_run_configs.ts";
import { lastStep } from "../../workers/_view.ts";
import { startTrain } from "../_support/train_process.ts";

const quiet = { sanitizeOps: false, sanitizeResources: false }; // child processes

async function withDir(work: (dir: string) => Promise<void>): Promise<void> {
  const dir = await mkdtemp(join(tmpdir(), "holdfast-train-"));
  try {
    await work(dir);
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

/** What `train` says and leaves when it cannot run as asked. */
const MISTAKES: readonly (readonly [string, readonly string[], RegExp])[] = [
  ["an unknown preset", ["quickstrat"], /quickstrat.*quickstart/],
  ["an unknown key", ["micro", "trainer.sed=2"], /trainer\.sed.*trainer\.seed/],
  ["a wrong type", ["micro", "trainer.seed=many"], /trainer\.seed.*many/],
  ["a negative budget", ["micro", "budget.max_usd=-1"], /budget\.max_usd.*-1/],
  ["a name that is no name", ["micro", "run=../x"], /run="\.\.\/x"/],
  ["two presets", ["micro", "quickstart"], /2 presets/],
  ["an unknown option", ["micro", "--jsno"], /--jsno/],
];
for (const [what, words, sentence] of MISTAKES) {
  Deno.test(
    `train says one sentence about ${what} and starts nothing`,
    quiet,
    () =>
      withDir(async (dir) => {
        const train = startTrain(dir, words);
        assert.equal(await train.exit, 1);
        const said = train.stderr().trim().split("\n");
        assert.equal(said.length, 1, train.stderr());
        assert.match(said[0]!, sentence);
        assert.deepEqual(await readdir(dir), []);
      }),
  );
}

Deno.test(
  "train --dry-run prints the resolved config and starts nothing",
  quiet,
  () =>
    withDir(async (dir) => {
      const train = startTrain(dir, ["micro", "--dry-run", "trainer.seed=7", "run=other"]);
      assert.equal(await train.exit, 0, train.stderr());
      const { run, config } = JSON.parse(train.stdout());
      assert.equal(run, "other");
      assert.equal(config.trainer.seed, 7);
      assert.equal(config.trainer.total_training_steps, 6);
      assert.deepEqual(await readdir(dir), []);
    }),
);

Deno.test("a run that has begun takes up some keys and refuses others", () =>
  withDir(async (dir) => {
    const configs = createRunConfigs(dir);
    await configs.begin("a", "micro", ["trainer.seed=3"]);
    const { config, adopted } = await configs.preview("a", "micro", ["budget.max_usd=2"]);
    assert.deepEqual(adopted, ["budget.max_usd"]);
    assert.equal(config.trainer.seed, 3);
    await assert.rejects(
      configs.preview("a", "micro", ["trainer.seed=4"]),
      /Cannot change trainer\.seed of run "a" to 4: it was begun with 3; start another run/,
    );
    await assert.rejects(configs.preview("a", "quickstart", []), /it was begun as micro/);
    assert.equal((await configs.preview("a", "micro", [])).config.trainer.seed, 3);
  }));

Deno.test("a run does not go on elsewhere unasked", () =>
  withDir(async (dir) => {
    const configs = createRunConfigs(dir);
    await configs.begin("a", "micro", []);
    await configs.checkHardware("a", false);
    const stored = (await configs.folder.readConfig("a"))!;
    await configs.folder.writeConfig("a", { ...stored, hardware: "another" });
    await assert.rejects(
      configs.checkHardware("a", false),
      /begun on "another".*--accept-hardware/,
    );
    await configs.checkHardware("a", true);
    assert.equal((await configs.folder.readConfig("a"))!.hardware, hardwareOf());
  }));

Deno.test("a run whose config.json is missing is not begun over its log", () =>
  withDir(async (dir) => {
    const configs = createRunConfigs(dir);
    await configs.begin("a", "micro", []);
    await mkdir(configs.folder.path("a", "log"));
    await rm(configs.folder.path("a", "config.json"));
    await assert.rejects(
      configs.preview("a", "micro", ["trainer.seed=2"]),
      /config\.json is missing, its log is there; restore the file, or delete the run/,
    );
  }));

Deno.test("lastStep() is the highest step, also when evaluations of earlier ones follow", () =>
  withDir(async (dir) => {
    const file = join(dir, "metrics.jsonl");
    const lines = [1, 2, 0].map((step) => JSON.stringify({ "training/global_step": step }) + "\n");
    await writeFile(file, lines.join("") + '{"training/glo');
    assert.equal(await lastStep(file), 2);
    assert.equal(await lastStep(join(dir, "absent")), 0);
  }));
