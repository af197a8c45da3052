import * as fs from "node:fs/promises";
import { join } from "node:path";
import { InvalidConfigError } from "../../core/errors.ts";
import { appendDurably, listIfThere, readIfThere, writeDurably } from "./_files.ts";

const RUN_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** What `config.json` of a run holds. */
export interface StoredConfig {
  readonly preset: string;
  readonly config: unknown;
  /** Where the run's bytes are exact: processor, runtime versions, threads. */
  readonly hardware: string;
  /** It went on elsewhere with the user's consent: bytes may differ from where it was begun. */
  readonly moved: boolean;
}

/** The files of `runs/{run}/` that people read. Writes are atomic; appends are once per key. */
export interface RunFolder {
  /** A place in the run's folder; throws InvalidConfigError on a name no run can have. */
  readonly path: (run: string, ...parts: readonly string[]) => string;
  /** Null for a run that has not begun. */
  readConfig(run: string): Promise<StoredConfig | null>;
  writeConfig(run: string, config: StoredConfig): Promise<void>;
  /** A small JSON file of the run; null when absent. */
  readJson<T>(run: string, name: string): Promise<T | null>;
  writeJson(run: string, name: string, value: unknown): Promise<void>;
  /** Appends a line to `metrics.jsonl` unless one with the same `kind` and step is there. */
  appendMetrics(run: string, line: Readonly<Record<string, number | string>>): Promise<void>;
  /** Names of the runs that have a folder, sorted. */
  list(): Promise<string[]>;
  /** Deletes the folder, if there is one. */
  remove(run: string): Promise<void>;
}

/** The folders of all runs, below one. */
export function createRunFolder(runsDir: string): RunFolder {
  const path = (run: string, ...parts: readonly string[]) => {
    checkRunName(run);
    return join(runsDir, run, ...parts);
  };

  const readText = async (file: string) => {
    const bytes = await readIfThere(file);
    return bytes === null ? null : new TextDecoder().decode(bytes);
  };

  const readJson = async <T>(run: string, name: string): Promise<T | null> => {
    const text = await readText(path(run, name));
    if (text === null) return null;
    try {
      return JSON.parse(text) as T;
    } catch (cause) {
      throw new InvalidConfigError(
        `Cannot read ${path(run, name)}: it is not JSON; restore the file or delete the run`,
        { cause },
      );
    }
  };
  const writeJson = (run: string, name: string, value: unknown) =>
    writeDurably(path(run, name), encode(JSON.stringify(value, null, 2) + "\n"));

  return {
    path,
    readConfig: (run) => readJson<StoredConfig>(run, "config.json"),
    writeConfig: (run, config) => writeJson(run, "config.json", config),
    readJson,
    writeJson,
    appendMetrics: async (run, line) => {
      const file = path(run, "metrics.jsonl");
      const text = await readText(file) ?? "";
      const whole = text.slice(0, text.lastIndexOf("\n") + 1); // without a line torn by a crash
      const same = (other: string) => {
        const seen = JSON.parse(other) as Record<string, unknown>;
        return seen["kind"] === line["kind"] &&
          seen["training/global_step"] === line["training/global_step"];
      };
      if (whole.split("\n").some((other) => other !== "" && same(other))) return;
      const added = JSON.stringify(line) + "\n";
      if (whole !== "" && whole === text) await appendDurably(file, encode(added));
      else await writeDurably(file, encode(whole + added));
    },
    list: async () => {
      const entries = await listIfThere(runsDir);
      return entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name).sort();
    },
    remove: (run) => fs.rm(path(run), { recursive: true, force: true }),
  };
}

const encode = (text: string) => new TextEncoder().encode(text);

/** Throws InvalidConfigError unless the name is safe as a folder and a workflow id. */
function checkRunName(run: string): void {
  if (RUN_NAME.test(run)) return;
  throw new InvalidConfigError(
    `Cannot use run=${
      JSON.stringify(run)
    }: a run's name has 1 to 64 letters, digits, ".", "_" or "-" and starts with a letter or digit`,
  );
}
