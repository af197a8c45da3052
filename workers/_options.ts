import process from "node:process";
import { parseArgs } from "node:util";
import { EngineError, InvalidConfigError } from "../core/errors.ts";

/** What a task that takes a config was asked. */
export interface TaskOptions {
  readonly preset: string | null;
  /** The run's name; null means the preset's. */
  readonly run: string | null;
  /** `key.path=value`, without `run=`. */
  readonly overrides: readonly string[];
  readonly json: boolean;
  readonly dryRun: boolean;
  readonly acceptHardware: boolean;
}

/** Reads `[PRESET] [key=value …] [--json] [--dry-run]`; throws InvalidConfigError. */
export function parseTaskOptions(args: readonly string[]): TaskOptions {
  let parsed;
  try {
    parsed = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        json: { type: "boolean" },
        "dry-run": { type: "boolean" },
        "accept-hardware": { type: "boolean" },
      },
    });
  } catch (cause) {
    throw new InvalidConfigError(
      `Cannot read the arguments: ${
        (cause as Error).message
      }; known options are --json, --dry-run and --accept-hardware`,
      { cause },
    );
  }
  const names = parsed.positionals.filter((word) => !word.includes("="));
  const settings = parsed.positionals.filter((word) => word.includes("="));
  if (names.length > 1) {
    throw new InvalidConfigError(
      `Cannot train ${names.length} presets at once: got ${
        names.join(", ")
      }; name one, and give settings as key=value`,
    );
  }
  const runs = settings.filter((word) => word.startsWith("run="));
  return {
    preset: names[0] ?? null,
    run: runs.at(-1)?.slice("run=".length) ?? null,
    overrides: settings.filter((word) => !word.startsWith("run=")),
    json: parsed.values.json ?? !process.stdout.isTTY,
    dryRun: parsed.values["dry-run"] ?? false,
    acceptHardware: parsed.values["accept-hardware"] ?? false,
  };
}

/** Runs a task's main; a failure the engine knows becomes one sentence and exit code 1. */
export async function runTask(main: () => Promise<void>): Promise<never> {
  process.stdout.on("error", () => undefined); // `runs | head`: nobody reads on
  try {
    await main();
    process.exit(0);
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    process.stderr.write(`holdfast: ${error.message}\n`);
    process.exit(1);
  }
}
