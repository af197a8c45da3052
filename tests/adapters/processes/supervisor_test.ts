import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import {
  isAlive,
  killOwned,
  type OwnedProcess,
  processIdentity,
} from "../../../adapters/processes/process_identity.ts";
import { logTail, Supervisor } from "../../../adapters/processes/supervisor.ts";
import { scratchFolder } from "../../_support/stubs.ts";
import { until } from "./_until.ts";

const ORPHAN = fileURLToPath(new URL("./_orphan.ts", import.meta.url));

Deno.test("Supervisor keeps a child alive, whichever of its processes is killed", async () => {
  using dir = scratchFolder();
  const said: string[] = [];
  let living: readonly OwnedProcess[] = [];
  const supervisor = new Supervisor({
    log: (m) => said.push(m),
    onChange: (now) => living = now,
  });
  const logFile = join(dir.folder, "logs", "child.log");
  try {
    await supervisor.start({
      name: "child",
      command: "sh",
      args: ["-c", 'echo "$GREETING"; exec sleep 100'],
      env: { GREETING: "hello you" },
      logFile,
    });
    const first = supervisor.pid("child");
    assert.ok(first !== null);
    assert.equal(living[0]?.pid, first);
    Deno.kill(first, "SIGKILL");
    await until(() => supervisor.pid("child") !== null && supervisor.pid("child") !== first);
    assert.match(
      said[0] ?? "",
      /^child ended \(code 137\): starting it again in 200 ms; see .*child.log$/,
    );

    const second = living[0];
    assert.ok(second);
    Deno.kill(second.group, "SIGKILL"); // the guard alone: its command must not live on beside a new one
    await until(() => supervisor.pid("child") !== second.pid && supervisor.pid("child") !== null);
    assert.equal(processIdentity(second.pid), null);
    assert.equal(supervisor.exits("child"), 2);
    await until(() => logTail(logFile).includes("hello you"));
  } finally {
    await supervisor.stopAll();
  }
  assert.equal(processIdentity(living[0]?.pid ?? 0), null);
});

Deno.test("Supervisor.stop() lets a child end by itself, and kills one that will not", async () => {
  using dir = scratchFolder();
  const supervisor = new Supervisor({ log: () => {} });
  const polite = join(dir.folder, "polite.log");
  const stubborn = join(dir.folder, "stubborn.log");
  const loop = "while :; do sleep 0.05; done";
  await supervisor.start({
    name: "polite",
    command: "sh",
    args: ["-c", `trap 'echo bye; exit 0' TERM; echo up; ${loop}`],
    logFile: polite,
  });
  await supervisor.start({
    name: "stubborn",
    command: "sh",
    args: ["-c", `trap '' TERM; echo up; ${loop}`],
    logFile: stubborn,
    graceMs: 300,
  });
  const pids = ["polite", "stubborn"].map((name) => supervisor.pid(name) ?? 0);
  await until(() => logTail(polite) === "up" && logTail(stubborn) === "up");
  await supervisor.stopAll();
  assert.match(readFileSync(polite, "utf8"), /bye/);
  assert.deepEqual(pids.map(processIdentity), [null, null]);
  await supervisor.stopAll(); // again: nothing to do
});

Deno.test("a child ends when the process that started it is killed with -9", async () => {
  using dir = scratchFolder();
  const parent = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--quiet", ORPHAN, join(dir.folder, "log")],
    stdout: "piped",
  }).spawn();
  const reader = parent.stdout.getReader();
  const pid = Number(new TextDecoder().decode((await reader.read()).value));
  await reader.cancel();
  assert.ok(isAlive(pid), "the child runs");
  parent.kill("SIGKILL");
  await parent.status;
  await until(() => processIdentity(pid) === null);
});

Deno.test("killOwned() spares a process that only has the number of ours", async () => {
  const other = new Deno.Command("sleep", { args: ["50"] }).spawn();
  const owned = { name: "x", pid: other.pid, group: other.pid, identity: "another boot:1" };
  assert.equal(killOwned(owned), false);
  assert.notEqual(processIdentity(other.pid), null);
  other.kill("SIGKILL");
  await other.status;
});

Deno.test("exitWithParent() ends a process whose parent alone was killed", async () => {
  const child = fileURLToPath(new URL("./_clinging.ts", import.meta.url));
  const parent = new Deno.Command("sh", {
    args: ["-c", '"$0" run --quiet --allow-all "$1" & wait', Deno.execPath(), child],
    stdout: "piped",
  }).spawn();
  const reader = parent.stdout.getReader();
  const pid = Number(new TextDecoder().decode((await reader.read()).value));
  await reader.cancel();
  parent.kill("SIGKILL");
  await parent.status;
  assert.ok(isAlive(pid), "the child outlives its parent at first");
  await until(() => processIdentity(pid) === null);
});
