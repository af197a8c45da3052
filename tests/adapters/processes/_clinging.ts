/** Prints its pid and stays until its parent is gone. */

import { exitWithParent } from "../../../adapters/processes/supervisor.ts";

exitWithParent();
await Deno.stdout.write(new TextEncoder().encode(String(Deno.pid)));
setInterval(() => {}, 1_000);
