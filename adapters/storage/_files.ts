import type { Dirent } from "node:fs";
import * as fs from "node:fs/promises";
import { dirname } from "node:path";

const REMEDIES: Readonly<Record<string, string>> = {
  ENOSPC: "the disk is full; free some space and it goes on",
  EDQUOT: "the disk quota is used up; free some space and it goes on",
  EACCES: "the folder is not writable for this user; change its permissions or choose another",
  EPERM: "the folder is not writable for this user; change its permissions or choose another",
  EROFS: "the file system is read-only; choose another folder",
  ENOTDIR: "a part of its path is a file, not a folder; move that file away",
  EMFILE: "too many files are open; raise the limit (ulimit -n)",
};

/** The same failure as one sentence with its remedy, where we know one. */
function explainWrite(path: string, error: unknown): unknown {
  const remedy = REMEDIES[(error as NodeJS.ErrnoException).code ?? ""];
  return remedy === undefined
    ? error
    : new Error(`Cannot write ${path}: ${remedy}`, { cause: error });
}

/**
 * Writes a whole file or nothing: under a temporary name, synced, renamed, and the folder synced too. A
 * file that was there is replaced.
 */
export async function writeDurably(path: string, bytes: Uint8Array): Promise<void> {
  const temporary = `${path}.${crypto.randomUUID()}.tmp`;
  await makeFolder(dirname(path));
  try {
    try {
      const file = await fs.open(temporary, "wx");
      try {
        await file.writeFile(bytes);
        await file.sync();
      } finally {
        await file.close();
      }
      await fs.rename(temporary, path);
    } catch (error) {
      await fs.rm(temporary, { force: true });
      throw error;
    }
    await syncFolder(dirname(path));
  } catch (error) {
    throw explainWrite(path, error);
  }
}

/** Adds bytes to the end of a file that is there; on disk when it returns, or torn by a crash. */
export async function appendDurably(path: string, bytes: Uint8Array): Promise<void> {
  try {
    const file = await fs.open(path, "a");
    try {
      await file.appendFile(bytes);
      await file.sync();
    } finally {
      await file.close();
    }
  } catch (error) {
    throw explainWrite(path, error);
  }
}

/** Names in a folder, of files and folders; none when there is no folder. */
export async function listIfThere(folder: string): Promise<Dirent[]> {
  return await fs.readdir(folder, { withFileTypes: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT" || error.code === "ENOTDIR") return [];
    throw error;
  });
}

/** The bytes of a file; null when there is none. */
export async function readIfThere(path: string): Promise<Uint8Array | null> {
  return await fs.readFile(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT" || error.code === "ENOTDIR") return null;
    throw error;
  });
}

/** Makes a folder and its parents so that they are still there after a power cut. */
export async function makeFolder(folder: string): Promise<void> {
  const first = await fs.mkdir(folder, { recursive: true })
    .catch((error) => Promise.reject(explainWrite(folder, error)));
  if (first === undefined) return;
  for (let at = folder; at.length >= first.length; at = dirname(at)) await syncFolder(dirname(at));
}

/** Makes names in a folder (new, renamed or removed) durable. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await fs.open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
