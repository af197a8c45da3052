import { readdir } from "node:fs/promises";
import { InvalidConfigError } from "../../core/errors.ts";
import { CONFIGS, readConfigJson } from "./_config_files.ts";

/** Names of the presets in `configs/runs/`, sorted. */
export async function listPresets(): Promise<string[]> {
  const files = await readdir(new URL("runs/", CONFIGS));
  return files.filter((file) => file.endsWith(".json")).map((file) => file.slice(0, -5)).sort();
}

/** The parsed JSON of a preset; throws InvalidConfigError that names the known ones. */
export async function loadPreset(name: string): Promise<unknown> {
  const known = await listPresets();
  if (known.includes(name)) return await readConfigJson(`runs/${name}.json`, "the preset's name");
  throw new InvalidConfigError(
    `Cannot find preset "${name}": configs/runs/ has ${known.join(", ")}; name one of them`,
  );
}
