import assert from "node:assert/strict";
import { join } from "node:path";
import { createArtifactStore } from "../../../adapters/storage/artifact_store.ts";
import { DamagedArtifactError } from "../../../core/errors.ts";
import { withFolder } from "./_folder.ts";

const BYTES = new TextEncoder().encode("abc");
const SHA256 = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"; // FIPS 180-2, B.1

Deno.test("createArtifactStore() keeps one copy under the digest, and gives it back", () =>
  withFolder(async (dir) => {
    const store = createArtifactStore(dir);
    const ref = await store.put(BYTES);
    assert.deepEqual(ref, { uri: `sha256:${SHA256}`, sha256: SHA256, bytes: 3 });
    await Promise.all([store.put(BYTES), store.put(BYTES)]);
    assert.deepEqual([...Deno.readDirSync(join(dir, "ba"))].map(({ name }) => name), [SHA256]);
    assert.deepEqual(new Uint8Array(await store.get(ref)), BYTES);
    const none = await store.put(new Uint8Array());
    assert.equal((await store.get(none)).length, 0);
  }));

Deno.test("createArtifactStore() refuses bytes that changed, and heals them when put again", () =>
  withFolder(async (dir) => {
    const store = createArtifactStore(dir);
    const ref = await store.put(BYTES);
    const path = join(dir, "ba", SHA256);
    for (const damage of ["ab", "abd", ""]) {
      Deno.writeTextFileSync(path, damage);
      await assert.rejects(
        store.get(ref),
        (error) => error instanceof DamagedArtifactError && error.message.includes(path),
      );
    }
    await store.put(BYTES);
    assert.deepEqual(new Uint8Array(await store.get(ref)), BYTES);
    Deno.removeSync(path);
    await assert.rejects(store.get(ref), /is missing/);
    await assert.rejects(
      store.get({ ...ref, sha256: "../../etc/passwd" }),
      DamagedArtifactError,
    );
  }));

Deno.test("createArtifactStore() says what keeps it from writing", () =>
  withFolder(async (dir) => {
    const file = join(dir, "artifacts");
    Deno.writeTextFileSync(file, "");
    await assert.rejects(
      createArtifactStore(file).put(BYTES),
      /Cannot write .* is a file, not a folder/,
    );
  }));
