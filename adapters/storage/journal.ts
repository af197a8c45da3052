import * as fs from "node:fs/promises";
import { dirname, join } from "node:path";
import { z } from "zod";
import { canonicalJson, type Journal, sha256Hex } from "../../core/storage/mod.ts";
import { makeFolder, readIfThere, syncFolder, writeDurably } from "./_files.ts";

const JournalRecord = z.object({
  key: z.string(),
  input_sha256: z.string(),
  input: z.unknown(),
  result_sha256: z.string(),
  result: z.unknown(),
  /** When it was recorded; never compared. */
  at: z.string(),
});
type JournalRecord = z.infer<typeof JournalRecord>;

/**
 * Results as files `{runsDir}/{run}/log/{key}.json`. A result made from another input moves the one that
 * was there to `{key}.{input digest}.json`, where it is found again if that input returns. A damaged file
 * counts as absent and is kept as `….damaged`.
 *
 * Attempts at one key in one process follow each other. Of attempts in two processes the first to record
 * wins, and both return what it recorded.
 */
export function createJournal(runsDir: string): Journal {
  const turns = new Map<string, Promise<unknown>>();

  const once = async <T>(run: string, key: string, input: unknown, work: () => Promise<T>) => {
    const log = join(runsDir, checked(run), "log");
    const text = canonicalJson(input ?? null);
    const wanted = sha256Hex(text);
    const known = await readRecord(join(log, `${key}.json`), key);
    if (known?.input_sha256 === wanted) return known.result as T;
    const earlier = await locked(log, () => takeUp(log, key, wanted));
    if (earlier !== null) return earlier.result as T;

    const result = canonicalJson(await work() ?? null);
    const record: JournalRecord = {
      key,
      input_sha256: wanted,
      input: JSON.parse(text),
      result_sha256: sha256Hex(result),
      result: JSON.parse(result),
      at: new Date().toISOString(),
    };
    const kept = await locked(log, async () => {
      const first = await takeUp(log, key, wanted);
      if (first !== null) return first;
      await setAside(log, key);
      const lines = JSON.stringify(record, null, 2) + "\n";
      await writeDurably(join(log, `${key}.json`), new TextEncoder().encode(lines));
      return record;
    });
    return kept.result as T;
  };

  return {
    async once(run, key, input, work) {
      checkKey(key);
      const id = `${run}\n${key}`;
      const before = turns.get(id);
      const mine = (async () => {
        await before?.catch(() => undefined); // its failure is its caller's
        return await once(run, key, input, work);
      })();
      turns.set(id, mine);
      try {
        return await mine;
      } finally {
        if (turns.get(id) === mine) turns.delete(id);
      }
    },

    async read<T>(run: string, key: string) {
      checkKey(key);
      const path = join(runsDir, checked(run), "log", `${key}.json`);
      const record = await readRecord(path, key);
      return record === null ? null : record.result as T;
    },
  };
}

/** The record of an input, current or set aside, made the current one; the log is locked. */
async function takeUp(log: string, key: string, wanted: string): Promise<JournalRecord | null> {
  const path = join(log, `${key}.json`);
  const current = await readRecord(path, key);
  if (current?.input_sha256 === wanted) return current;
  const aside = asidePath(log, key, wanted);
  const record = await readRecord(aside, key);
  if (record?.input_sha256 !== wanted) return null;
  await setAside(log, key);
  await fs.rename(aside, path);
  await syncFolder(dirname(path));
  return record;
}

/** Moves what is under a key, if anything, to the name its input gives it; the log is locked. */
async function setAside(log: string, key: string): Promise<void> {
  const path = join(log, `${key}.json`);
  if (await readIfThere(path) === null) return;
  const record = await readRecord(path, key);
  const aside = record === null ? `${path}.damaged` : asidePath(log, key, record.input_sha256);
  await fs.rename(path, aside);
}

function asidePath(log: string, key: string, inputSha256: string): string {
  return join(log, `${key}.${inputSha256.slice(0, 16)}.json`);
}

/** The record in a file; null when it is missing or damaged. */
async function readRecord(path: string, key: string): Promise<JournalRecord | null> {
  const bytes = await readIfThere(path);
  if (bytes === null) return null;
  const record = parseRecord(new TextDecoder().decode(bytes));
  return record?.key === key ? record : null;
}

function parseRecord(text: string): JournalRecord | null {
  try {
    const record = JournalRecord.parse(JSON.parse(text));
    const whole = sha256Hex(canonicalJson(record.input)) === record.input_sha256 &&
      sha256Hex(canonicalJson(record.result)) === record.result_sha256;
    return whole ? record : null;
  } catch {
    return null;
  }
}

/** Runs `change` while no other attempt, of this process or another, changes the log. */
async function locked<T>(log: string, change: () => Promise<T>): Promise<T> {
  await makeFolder(log);
  using lock = await Deno.open(join(log, ".lock"), { write: true, create: true });
  await lock.lock(true); // ends with the file, or with the process
  return await change();
}

function checked(run: string): string {
  if (/^[A-Za-z0-9][\w.-]*$/.test(run)) return run;
  throw new RangeError(
    `Cannot keep a journal of run ${JSON.stringify(run)}: it is not a file name`,
  );
}

function checkKey(key: string): void {
  const parts = key.split("/");
  if (
    parts.every((part) => /^[\w:=@+-][\w.:=@+-]*$/.test(part) && !/\.(json|damaged)$/.test(part))
  ) return;
  throw new RangeError(
    `Cannot use ${
      JSON.stringify(key)
    } as a journal key: its parts must be file names without ".json"`,
  );
}
