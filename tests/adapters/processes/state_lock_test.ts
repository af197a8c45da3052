import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { FencedError, InvalidConfigError } from "../../../core/errors.ts";
import { processIdentity } from "../../../adapters/processes/process_identity.ts";
import { claimState, type Endpoint, stateFolder } from "../../../adapters/processes/state_lock.ts";
import { toolsFolder } from "../../../adapters/processes/tools_folder.ts";
import { scratchFolder } from "../../_support/stubs.ts";
import { until } from "./_until.ts";

const OWNER = fileURLToPath(new URL("./_owner.ts", import.meta.url));
const ENDPOINT: Endpoint = {
  address: "127.0.0.1:7233",
  namespace: "default",
  uiUrl: "http://127.0.0.1:8233",
  worldUrl: null,
};
const quiet = { log: () => {} };

Deno.test("claimState() gives a folder to one owner and sends the second to it", async () => {
  using dir = scratchFolder();
  const first = await claimState(dir.folder, quiet);
  assert.ok(first.owned);
  await assert.rejects(claimState(dir.folder, { ...quiet, waitMs: 0 }), (error: Error) => {
    assert.ok(error instanceof FencedError);
    assert.match(error.message, /^Cannot use ".*": process \d+ owns it and is not ready\. Stop it/);
    return true;
  });
  const second = claimState(dir.folder, quiet); // waits until the owner is ready
  first.publish(ENDPOINT);
  assert.deepEqual(await second, { owned: false, pid: Deno.pid, endpoint: ENDPOINT });
  first.release();
  const third = await claimState(dir.folder, quiet);
  assert.ok(third.owned);
  third.release();
});

Deno.test("claimState() takes over from a killed owner and ends only what that one started", async () => {
  using dir = scratchFolder();
  const owner = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--quiet", OWNER, dir.folder],
    stdout: "piped",
  }).spawn();
  const reader = owner.stdout.getReader();
  const pid = Number(new TextDecoder().decode((await reader.read()).value));
  await reader.cancel();
  const living = await claimState(dir.folder, quiet);
  assert.equal(living.owned, false);
  owner.kill("SIGKILL");
  await owner.status;
  assert.notEqual(processIdentity(pid), null, "the orphan lives");

  const said: string[] = [];
  const heir = await claimState(dir.folder, { log: (message) => said.push(message) });
  assert.ok(heir.owned);
  assert.deepEqual(said, [`ended orphan (pid ${pid}), left by a killed run`]);
  await until(() => processIdentity(pid) === null);
  heir.release();
});

Deno.test("claimState() is not disturbed by a damaged owner file", async () => {
  using dir = scratchFolder();
  writeFileSync(join(dir.folder, "owner.json"), '{"pid": 1, "chil');
  const state = await claimState(dir.folder, quiet);
  assert.ok(state.owned);
  state.release();
});

Deno.test("stateFolder() prefers HOLDFAST_STATE and says what to set when it cannot be written", () => {
  using dir = scratchFolder();
  const mine = join(dir.folder, "mine");
  assert.equal(stateFolder({ HOLDFAST_STATE: mine }, dir.folder), mine);
  assert.equal(stateFolder({}, dir.folder), join(dir.folder, ".holdfast"));
  writeFileSync(join(dir.folder, "file"), "");
  assert.throws(
    () => stateFolder({ HOLDFAST_STATE: join(dir.folder, "file", "x") }, dir.folder),
    (error: Error) =>
      error instanceof InvalidConfigError &&
      /^Cannot keep state: ".*" cannot be written\. Set HOLDFAST_STATE/.test(error.message),
  );
});

Deno.test("toolsFolder() goes from HOLDFAST_TOOLS over the user's cache to the project", () => {
  using dir = scratchFolder();
  const project = join(dir.folder, "project");
  const file = join(dir.folder, "file");
  writeFileSync(file, "");
  const env = { HOLDFAST_TOOLS: "/t", XDG_CACHE_HOME: join(dir.folder, "xdg"), HOME: dir.folder };
  assert.equal(toolsFolder(env, project), "/t");
  assert.equal(
    toolsFolder({ ...env, HOLDFAST_TOOLS: undefined }, project),
    join(dir.folder, "xdg", "holdfast"),
  );
  assert.equal(toolsFolder({ HOME: dir.folder }, project), join(dir.folder, ".cache", "holdfast"));
  const fallback = join(project, ".holdfast", "tools");
  assert.equal(toolsFolder({}, project), fallback);
  assert.equal(toolsFolder({ HOME: file }, project), fallback);
  assert.equal(toolsFolder({ HOME: join(dir.folder, "missing") }, project), fallback);
});
