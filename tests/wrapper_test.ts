import assert from "node:assert/strict";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { emptyMachine, scratchFolder, script } from "./_support/stubs.ts";

const WRAPPER = fileURLToPath(new URL("../holdfast", import.meta.url));

/** Says its version; else prints what it was asked, one argument in each pair of brackets. */
const DENO = (version: string) =>
  `[ "$1" = --version ] && { echo "deno ${version} (stable)"; exit 0; }
[ "$1" = install ] && exit 0
printf '[%s]' "$@"`;
const DENO_FILE = (folder: string) => join(folder, "node_modules/@deno/some-platform/deno");

/** An npm that installs the given Deno where `--prefix` says, after `first`. */
const npm = (first = "", version = "2.9.6") =>
  `${first}
while [ "$1" != --prefix ]; do shift; done
mkdir -p "$2/node_modules/@deno/some-platform"
printf '#!/bin/sh\\n%s\\n' '${DENO(version).replaceAll("'", "'\\''")}' >"${DENO_FILE("$2")}"
chmod +x "${DENO_FILE("$2")}"`;

/** A project in a folder with a space, on a machine with nothing but a shell. */
function machine(folder: string) {
  const project = join(folder, "my project");
  const home = join(folder, "home");
  mkdirSync(project);
  mkdirSync(home);
  copyFileSync(WRAPPER, join(project, "holdfast"));
  writeFileSync(join(project, "deno.lock"), "{}");
  const bin = emptyMachine(folder);
  const command = (env: Record<string, string>) =>
    new Deno.Command(join(project, "holdfast"), {
      args: ["train", "two words"],
      cwd: folder,
      clearEnv: true,
      env: { PATH: bin, ...env },
      stdin: "null",
      stdout: "piped",
      stderr: "piped",
    });
  const run = async (env: Record<string, string> = { HOME: home }) => {
    const { code, stdout, stderr } = await command(env).output();
    const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
    return { code, stdout: text(stdout), stderr: text(stderr) };
  };
  const tools = join(home, ".cache", "holdfast");
  const asked = `[task][--quiet][--cwd][${project}][train][two words]`;
  return { asked, bin, command, home, project, run, tools };
}

Deno.test("holdfast runs the task with the Deno on PATH; stdout is the task's alone", async () => {
  using dir = scratchFolder();
  const m = machine(dir.folder);
  script(join(m.bin, "deno"), DENO("2.9.5"));
  const first = await m.run();
  assert.deepEqual([first.code, first.stdout], [0, m.asked]);
  assert.match(first.stderr, /^holdfast: bringing the packages of deno\.lock/);
  assert.deepEqual(await m.run(), { code: 0, stdout: m.asked, stderr: "" }); // packages are there
});

Deno.test("holdfast brings Deno where there is none, or one too old, once", async () => {
  using dir = scratchFolder();
  const m = machine(dir.folder);
  script(join(m.bin, "deno"), DENO("2.9.4"));
  script(join(m.bin, "npm"), npm());
  const first = await m.run();
  assert.equal(first.stdout, m.asked);
  assert.match(first.stderr, /^holdfast: bringing Deno 2\.9\.6 with npm/);
  assert.deepEqual(readdirSync(m.tools), ["deno-2.9.6"]);
  assert.equal((await m.run()).stderr, "");

  writeFileSync(join(m.tools, "deno-2.9.6", "deno"), "half of a fi"); // damaged: brought again
  assert.equal((await m.run()).stdout, m.asked);
});

Deno.test("holdfast goes on to pip when npm fails", async () => {
  using dir = scratchFolder();
  const m = machine(dir.folder);
  script(join(m.bin, "npm"), "exit 1");
  script(
    join(m.bin, "pip"),
    `while [ "$1" != --target ]; do shift; done
mkdir -p "$2/bin"
printf '#!/bin/sh\\n%s\\n' '${DENO("2.9.6").replaceAll("'", "'\\''")}' >"$2/bin/deno"
chmod +x "$2/bin/deno"`,
  );
  assert.equal((await m.run()).stdout, m.asked);
});

Deno.test("holdfast says what to install without npm and pip, and without network", async () => {
  using dir = scratchFolder();
  const m = machine(dir.folder);
  const lonely = await m.run();
  assert.equal(lonely.code, 1);
  assert.match(
    lonely.stderr,
    /^holdfast: Cannot bring Deno: neither npm nor pip nor uv is on PATH\. Install Deno 2\.9\.5 or newer .*\n$/,
  );
  script(join(m.bin, "npm"), "exit 1");
  script(join(m.bin, "pip"), "exit 1");
  const offline = await m.run();
  assert.equal(offline.code, 1);
  assert.equal(offline.stdout, "");
  assert.match(
    offline.stderr,
    /Cannot bring Deno: the attempts with npm pip failed \(is there a network\?\) and left nothing behind\. Install Deno .*\n$/,
  );
  assert.deepEqual(readdirSync(m.tools), []);
});

Deno.test("holdfast says when packages cannot be fetched, and tries again next time", async () => {
  using dir = scratchFolder();
  const m = machine(dir.folder);
  script(join(m.bin, "deno"), `[ "$1" = install ] && exit 1\n${DENO("2.9.6")}`);
  const offline = await m.run();
  assert.equal(offline.code, 1);
  assert.match(
    offline.stderr,
    /\nholdfast: Cannot bring the packages of deno\.lock: .*network.*\n$/,
  );
  script(join(m.bin, "deno"), DENO("2.9.6"));
  assert.equal((await m.run()).stdout, m.asked);
});

Deno.test("holdfast killed with -9 while it brings Deno leaves nothing half", async () => {
  using dir = scratchFolder();
  const m = machine(dir.folder);
  const started = join(dir.folder, "started");
  const pidFile = join(dir.folder, "npm pid");
  const slow = `echo $$ >"${pidFile}"; touch "${started}"; exec sleep 100`;
  script(join(m.bin, "npm"), npm(slow));
  const first = m.command({ HOME: m.home }).spawn();
  while (!existsSync(started)) await new Promise((resolve) => setTimeout(resolve, 20));
  first.kill("SIGKILL");
  Deno.kill(Number(await Deno.readTextFile(pidFile)), "SIGKILL");
  await first.output();
  assert.ok(!existsSync(join(m.tools, "deno-2.9.6")));
  assert.equal(readdirSync(m.tools).length, 1); // what it left...
  script(join(m.bin, "npm"), npm());
  assert.equal((await m.run()).stdout, m.asked);
  assert.deepEqual(readdirSync(m.tools), ["deno-2.9.6"]); // ...is gone
});

Deno.test("holdfast started twice at once brings one whole Deno", async () => {
  using dir = scratchFolder();
  const m = machine(dir.folder);
  script(join(m.bin, "npm"), npm("sleep 0.2"));
  const both = await Promise.all([m.run(), m.run()]);
  assert.deepEqual(both.map(({ stdout }) => stdout), [m.asked, m.asked]);
  assert.deepEqual(readdirSync(m.tools), ["deno-2.9.6"]);
});

Deno.test("holdfast keeps tools in the project when HOME is missing or cannot be written", async () => {
  using dir = scratchFolder();
  const m = machine(dir.folder);
  script(join(m.bin, "npm"), npm());
  const word = /^holdfast: HOME is missing or cannot be written: tools are kept in .*tools\n/;
  const homes = [{}, { HOME: "/dev/null" }, { HOME: join(dir.folder, "missing") }];
  for (const env of homes) {
    const { stdout, stderr } = await m.run(env as Record<string, string>);
    assert.equal(stdout, m.asked);
    assert.match(stderr, word);
  }
  assert.ok(existsSync(join(m.project, ".holdfast/tools/deno-2.9.6/deno")));
  assert.ok(!existsSync(join(dir.folder, "missing")), "no home is made up");
});

Deno.test("holdfast says when the folder that HOLDFAST_TOOLS names cannot be written", async () => {
  using dir = scratchFolder();
  const m = machine(dir.folder);
  const { code, stderr } = await m.run({ HOME: m.home, HOLDFAST_TOOLS: "/dev/null/tools" });
  assert.equal(code, 1);
  assert.match(
    stderr,
    /^holdfast: Cannot keep tools: \/dev\/null\/tools cannot be written\. Set HOLDFAST_TOOLS/,
  );
});

Deno.test("holdfast works through a link from elsewhere on PATH", async () => {
  using dir = scratchFolder();
  const m = machine(dir.folder);
  script(join(m.bin, "deno"), DENO("3.0.0"));
  const link = join(dir.folder, "hf");
  symlinkSync(join(m.project, "holdfast"), link);
  const { stdout } = await new Deno.Command(link, {
    args: ["train", "two words"],
    clearEnv: true,
    env: { PATH: `${m.bin}:/usr/bin:/bin`, HOME: m.home },
  }).output();
  assert.equal(new TextDecoder().decode(stdout), m.asked);
});
