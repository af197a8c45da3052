import { join } from "node:path";
import { DamagedArtifactError } from "../../core/errors.ts";
import { type ArtifactRef, type ArtifactStore, sha256Hex } from "../../core/storage/mod.ts";
import { readIfThere, writeDurably } from "./_files.ts";

/**
 * Artifacts as files `{dir}/ab/abcdef…` named by their SHA-256. A damaged copy of bytes that are put again
 * is replaced. A full disk or an unwritable folder is an Error that says so.
 */
export function createArtifactStore(dir: string): ArtifactStore {
  const pathOf = (sha256: string) => join(dir, sha256.slice(0, 2), sha256);

  return {
    async put(bytes) {
      const sha256 = sha256Hex(bytes);
      const path = pathOf(sha256);
      const stored = await readIfThere(path);
      if (stored === null || sha256Hex(stored) !== sha256) await writeDurably(path, bytes);
      return { uri: `sha256:${sha256}`, sha256, bytes: bytes.length };
    },

    async get(ref) {
      checkRef(ref);
      const path = pathOf(ref.sha256);
      const bytes = await readIfThere(path);
      if (bytes === null) {
        throw new DamagedArtifactError(
          `Cannot read artifact ${ref.sha256}: ${path} is missing; restore the folder from a copy`,
        );
      }
      if (bytes.length !== ref.bytes || sha256Hex(bytes) !== ref.sha256) {
        throw new DamagedArtifactError(
          `Cannot read artifact ${ref.sha256}: ${path} holds ${bytes.length} bytes that do not match ` +
            `its name (${ref.bytes} were stored); restore the file from a copy`,
        );
      }
      return bytes;
    },
  };
}

function checkRef(ref: ArtifactRef): void {
  if (/^[0-9a-f]{64}$/.test(ref.sha256) && ref.uri === `sha256:${ref.sha256}`) return;
  throw new DamagedArtifactError(
    `Cannot read artifact ${JSON.stringify(ref.uri)}: this store holds "sha256:" and 64 hex digits`,
  );
}
