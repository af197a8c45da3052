import { existsSync } from "node:fs";
import * as os from "node:os";
import process from "node:process";
import { join } from "node:path";
import { loadPreset } from "../adapters/data/presets.ts";
import { createRunFolder, type RunFolder } from "../adapters/storage/run_folder.ts";
import { compareConfigs, resolveConfig } from "../configs/resolve.ts";
import type { RunConfig } from "../configs/run.ts";
import { InvalidConfigError } from "../core/errors.ts";
import type { RunSummary } from "../core/plan/run.ts";

/** Configs of runs as they are stored, and as a command would change them. */
export interface RunConfigs {
  readonly folder: RunFolder;
  metricsFile(run: string): string;
  summary(run: string): Promise<RunSummary | null>;
  /** The config the run would have, and the keys it would take up; throws on what it cannot take up. */
  preview(run: string, preset: string, overrides: readonly string[]): Promise<{
    readonly config: RunConfig;
    readonly adopted: readonly string[];
  }>;
  /** Stores what `preview` shows. */
  begin(run: string, preset: string, overrides: readonly string[]): Promise<void>;
  /** Throws when the run was begun on hardware whose bytes may differ, unless accepted; then takes note. */
  checkHardware(run: string, accepted: boolean): Promise<void>;
}

/** What bytes depend on besides the config: processor, runtimes. */
export function hardwareOf(): string {
  const cpu = os.cpus()[0]?.model.trim() ?? process.arch;
  return `${cpu} · deno ${Deno.version.deno} · onnxruntime-node 1.30.0`;
}

export function createRunConfigs(stateDir: string): RunConfigs {
  const folder = createRunFolder(join(stateDir, "runs"));

  const preview: RunConfigs["preview"] = async (run, preset, overrides) => {
    folder.path(run); // a bad name is the first thing to hear of
    const wanted = resolveConfig({ preset: await loadPreset(preset), overrides });
    const stored = await folder.readConfig(run);
    if (stored === null) {
      if (!existsSync(folder.path(run, "log"))) return { config: wanted, adopted: [] };
      throw new InvalidConfigError(
        `Cannot go on with run "${run}": ${
          folder.path(run, "config.json")
        } is missing, its log is there; restore the file, or delete the run (./holdfast runs delete ${run}) and begin it again`,
      );
    }
    const begun = resolveConfig({ preset: stored.config, overrides: [] });
    if (stored.preset !== preset) {
      throw new InvalidConfigError(
        `Cannot go on with run "${run}" as preset ${preset}: it was begun as ${stored.preset}; choose another name with run=NAME`,
      );
    }
    // Without settings the run goes on as it is, settings it was begun with included.
    if (overrides.length === 0) return { config: begun, adopted: [] };
    const { adopted, refused } = compareConfigs(
      begun,
      resolveConfig({ preset: begun, overrides }),
    );
    const [first] = refused;
    if (first !== undefined) {
      throw new InvalidConfigError(
        `Cannot change ${first.key} of run "${run}" to ${
          JSON.stringify(first.now)
        }: it was begun with ${JSON.stringify(first.was)}; start another run with run=NAME`,
      );
    }
    return { config: resolveConfig({ preset: begun, overrides }), adopted };
  };

  return {
    folder,
    metricsFile: (run) => folder.path(run, "metrics.jsonl"),
    summary: (run) => folder.readJson<RunSummary>(run, "summary.json"),
    preview,
    begin: async (run, preset, overrides) => {
      const stored = await folder.readConfig(run);
      const { config } = await preview(run, preset, overrides);
      if (stored !== null && JSON.stringify(stored.config) === JSON.stringify(config)) return;
      await folder.writeConfig(run, {
        preset,
        config,
        hardware: stored?.hardware ?? hardwareOf(),
        moved: stored?.moved ?? false,
      });
    },
    checkHardware: async (run, accepted) => {
      const stored = await folder.readConfig(run);
      const here = hardwareOf();
      if (stored === null || stored.hardware === here) return;
      if (!accepted) {
        throw new InvalidConfigError(
          `Cannot go on with run "${run}" here byte for byte: it was begun on "${stored.hardware}", this is "${here}"; add --accept-hardware to go on all the same`,
        );
      }
      await folder.writeConfig(run, { ...stored, hardware: here, moved: true });
    },
  };
}
