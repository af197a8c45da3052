import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { KNOWN_KEYS } from "../../configs/keys.ts";
import { RESUMABLE_KEYS } from "../../configs/resolve.ts";
import { RunConfig } from "../../configs/run.ts";

Deno.test("docs/configuration.md lists every setting with its default and whether it may change", async () => {
  const guide = new URL("../../docs/configuration.md", import.meta.url);
  const rows = new Map(
    (await readFile(guide, "utf8")).split("\n").filter((line) => line.startsWith("| `"))
      .map((line) => line.split("|").map((cell) => cell.trim()))
      .map(([, key = "", value = "", meaning = ""]) => [key, { value, meaning }]),
  );
  const defaults: unknown = RunConfig.parse({});
  for (const key of KNOWN_KEYS.filter((one) => !one.startsWith("world."))) {
    const row = rows.get(`\`${key}\``);
    assert.ok(row !== undefined, `${key} is not listed`);
    const value = key.split(".").reduce(
      (at, part) => (at as Record<string, unknown>)[part],
      defaults,
    );
    assert.equal(row.value, `\`${JSON.stringify(value)}\``, key);
    assert.equal(row.meaning.endsWith("✎"), RESUMABLE_KEYS.includes(key), key);
  }
});
