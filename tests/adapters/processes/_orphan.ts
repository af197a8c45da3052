/** Starts a child under a supervisor, prints its pid, waits to be killed. */

import { Supervisor } from "../../../adapters/processes/supervisor.ts";

const supervisor = new Supervisor({ log: () => {} });
await supervisor.start({
  name: "child",
  command: "sleep",
  args: ["100"],
  logFile: Deno.args[0] ?? "",
});
await Deno.stdout.write(new TextEncoder().encode(String(supervisor.pid("child"))));
