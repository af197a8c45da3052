import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { InvalidConfigError } from "../../core/errors.ts";

/** The folder paths of configs start at. */
export const CONFIGS = new URL("../../configs/", import.meta.url);

/** The text of a file below the folder of configs, or of an absolute path; `setting` names who asks for it. */
export async function readConfigFile(path: string, setting: string): Promise<string> {
  const file = fileURLToPath(new URL(path, CONFIGS));
  try {
    return await readFile(file, "utf8");
  } catch (cause) {
    throw new InvalidConfigError(
      `Cannot read "${file}": ${(cause as Error).message}; correct the path in ${setting}`,
      { cause },
    );
  }
}

/** `readConfigFile`, parsed. */
export async function readConfigJson(path: string, setting: string): Promise<unknown> {
  const text = await readConfigFile(path, setting);
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new InvalidConfigError(
      `Cannot read "${path}": it is no JSON (${(cause as Error).message}); correct the file`,
      { cause },
    );
  }
}
