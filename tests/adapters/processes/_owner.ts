/** Owns a state folder with one child that outlives it, prints the child's pid, waits to be killed. */

import { spawn } from "node:child_process";
import { processIdentity } from "../../../adapters/processes/process_identity.ts";
import { claimState } from "../../../adapters/processes/state_lock.ts";

const state = await claimState(Deno.args[0] ?? "", { log: () => {} });
if (!state.owned) throw new Error("Cannot own the folder: another process does");
const child = spawn("sleep", ["100"], { detached: true, stdio: "ignore" });
const pid = child.pid ?? 0;
state.record([{ name: "orphan", pid, group: pid, identity: processIdentity(pid) ?? "" }]);
state.publish({
  address: "127.0.0.1:1",
  namespace: "default",
  uiUrl: null,
  worldUrl: null,
});
await Deno.stdout.write(new TextEncoder().encode(String(pid)));
setInterval(() => {}, 1_000);
