/** Where tools are kept: apart from state, shared by projects, as the `holdfast` wrapper decides. */

import { accessSync, constants, mkdirSync, statSync } from "node:fs";
import { join } from "node:path";

/** Environment variables; tests pass their own. */
export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * `HOLDFAST_TOOLS`, else `holdfast` in the user's cache folder, else, where there is no home that
 * keeps files, `.holdfast/tools` of the project. The wrapper sets `HOLDFAST_TOOLS`; the rest serves
 * tasks that were started without it.
 */
export function toolsFolder(env: Environment, projectDir: string): string {
  if (env.HOLDFAST_TOOLS) return env.HOLDFAST_TOOLS;
  if (env.XDG_CACHE_HOME && canKeep(join(env.XDG_CACHE_HOME, "holdfast"))) {
    return join(env.XDG_CACHE_HOME, "holdfast");
  }
  if (env.HOME && isFolder(env.HOME) && canKeep(join(env.HOME, ".cache", "holdfast"))) {
    return join(env.HOME, ".cache", "holdfast");
  }
  return join(projectDir, ".holdfast", "tools");
}

/** Whether the folder exists, or can be made, and takes new files. */
export function canKeep(folder: string): boolean {
  try {
    mkdirSync(folder, { recursive: true });
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}
