import assert from "node:assert/strict";
import { join } from "node:path";
import { createJournal } from "../../../adapters/storage/journal.ts";
import { withFolder } from "./_folder.ts";

/** Work that counts how often it ran and gives another result each time. */
function counting() {
  const work = { runs: 0, run: () => Promise.resolve({ made: ++work.runs }) };
  return work;
}

Deno.test("createJournal() runs work once per key and input, also after a restart", () =>
  withFolder(async (dir) => {
    const work = counting();
    const input = { b: 1, a: [2] };
    const first = await createJournal(dir).once("r", "step-1/turn-0", input, work.run);
    const again = createJournal(dir);
    assert.deepEqual(first, { made: 1 });
    assert.deepEqual(await again.once("r", "step-1/turn-0", { a: [2], b: 1 }, work.run), first);
    assert.deepEqual(await again.read("r", "step-1/turn-0"), first);
    assert.equal(await again.read("r", "step-2"), null);
    await again.once("other", "step-1/turn-0", input, work.run);
    assert.equal(work.runs, 2);
  }));

Deno.test("createJournal() keeps both results when an input changes, and finds the old one again", () =>
  withFolder(async (dir) => {
    const journal = createJournal(dir);
    const work = counting();
    await journal.once("r", "k", "one", work.run);
    assert.deepEqual(await journal.once("r", "k", "two", work.run), { made: 2 });
    assert.deepEqual(await journal.read("r", "k"), { made: 2 });
    assert.deepEqual(await journal.once("r", "k", "one", work.run), { made: 1 });
    assert.deepEqual(await journal.read("r", "k"), { made: 1 });
    assert.deepEqual(await journal.once("r", "k", "two", work.run), { made: 2 });
    assert.equal(work.runs, 2);
  }));

Deno.test("createJournal() does the work of a torn or changed record again and keeps it aside", () =>
  withFolder(async (dir) => {
    const path = join(dir, "r", "log", "k.json");
    const work = counting();
    await createJournal(dir).once("r", "k", 1, work.run);
    const whole = Deno.readTextFileSync(path);
    const damages = [whole.slice(0, -20), whole.replace('"made": 1', '"made": 7'), "", "null"];
    for (const [i, damage] of damages.entries()) {
      Deno.writeTextFileSync(path, damage);
      assert.equal(await createJournal(dir).read("r", "k"), null);
      assert.deepEqual(await createJournal(dir).once("r", "k", 1, work.run), { made: i + 2 });
      assert.equal(Deno.readTextFileSync(`${path}.damaged`), damage);
    }
  }));

Deno.test("createJournal() lets overlapping attempts of one process follow each other", () =>
  withFolder(async (dir) => {
    const journal = createJournal(dir);
    let running = 0;
    let most = 0;
    const work = async () => {
      most = Math.max(most, ++running);
      await new Promise((resolve) => setTimeout(resolve, 5));
      return running--;
    };
    const failing = journal.once("r", "k", 1, () => Promise.reject(new Error("no")));
    const others = [1, 1, 2].map((input) => journal.once("r", "k", input, work));
    await assert.rejects(failing, /no/);
    assert.deepEqual(await Promise.all(others), [1, 1, 1]);
    assert.equal(most, 1);
  }));

Deno.test("createJournal() gives overlapping attempts of two processes the first recorded result", () =>
  withFolder(async (dir) => {
    // two journals share nothing but the folder, as two processes do
    const results = await Promise.all(
      Array.from({ length: 8 }, (_, i) =>
        createJournal(dir).once("r", "k", 1, async () => {
          await new Promise((resolve) => setTimeout(resolve, 20 - i));
          return i;
        })),
    );
    assert.equal(new Set(results).size, 1, `${results}`);
    assert.equal(await createJournal(dir).read("r", "k"), results[0]);
    const names = [...Deno.readDirSync(join(dir, "r", "log"))].map(({ name }) => name).sort();
    assert.deepEqual(names, [".lock", "k.json"]);
  }));

Deno.test("createJournal() refuses keys and runs that leave its folder", () =>
  withFolder(async (dir) => {
    const journal = createJournal(dir);
    for (const key of ["../x", "/x", "a//b", "", "a.json", "a/./b", "a\\b"]) {
      await assert.rejects(journal.read("r", key), RangeError, key);
    }
    await assert.rejects(journal.read("../r", "k"), RangeError);
  }));
