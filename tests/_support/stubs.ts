/** Folders and fake commands for tests that play an empty machine. */

import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A folder with a space in its name, gone at the end of the scope. */
export function scratchFolder() {
  const folder = mkdtempSync(join(tmpdir(), "holdfast test "));
  return { folder, [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }) };
}

/** Writes an executable shell script; its path. */
export function script(path: string, body: string): string {
  mkdirSync(join(path, ".."), { recursive: true });
  writeFileSync(path, `#!/bin/sh\n${body}\n`);
  chmodSync(path, 0o755);
  return path;
}

/** What every machine has; no Deno, npm, pip, uv or Python. */
const ORDINARY = "sh dirname sed cut mkdir mv rm cat cksum cp touch sleep chmod ls kill printf"
  .split(" ");

/** A folder for PATH with nothing but the ordinary commands. */
export function emptyMachine(folder: string): string {
  const bin = join(folder, "bin");
  mkdirSync(bin);
  for (const name of ORDINARY) {
    const path = ["/usr/bin", "/bin"].map((place) => join(place, name)).find(isFile);
    if (path) symlinkSync(path, join(bin, name));
  }
  return bin;
}

function isFile(path: string): boolean {
  try {
    return Deno.statSync(path).isFile;
  } catch {
    return false;
  }
}
