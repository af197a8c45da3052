import assert from "node:assert/strict";
import { InvalidConfigError } from "../../../core/errors.ts";
import { chooseServerPorts, freePort, isFree } from "../../../adapters/temporal/ports.ts";

function listen(port = 0) {
  const listener = Deno.listen({ hostname: "127.0.0.1", port });
  return { port: listener.addr.port, [Symbol.dispose]: () => listener.close() };
}
const quiet = { log: () => {} };

Deno.test("isFree() tells a busy port from a free one", async () => {
  using busy = listen();
  assert.equal(await isFree(busy.port), false);
  assert.equal(await isFree(await freePort()), true);
});

Deno.test("chooseServerPorts() names a busy port that was asked for, and the setting", async () => {
  using busy = listen();
  for (const name of ["HOLDFAST_PORT", "HOLDFAST_UI_PORT"]) {
    await assert.rejects(
      chooseServerPorts({ [name]: String(busy.port) }, quiet),
      (error: Error) => {
        assert.ok(error instanceof InvalidConfigError);
        const start = `Cannot start Temporal: port ${busy.port} (${name}) is busy, perhaps held by`;
        assert.ok(error.message.startsWith(start), error.message);
        return true;
      },
    );
  }
  await assert.rejects(
    chooseServerPorts({ HOLDFAST_PORT: "70000" }, quiet),
    /Cannot use HOLDFAST_PORT: "70000" is not a port/,
  );
});

Deno.test("chooseServerPorts() goes on from busy ports nobody asked for, and says so", async () => {
  const remembered = { port: await freePort(), uiPort: await freePort() };
  assert.deepEqual(await chooseServerPorts({}, { ...quiet, remembered }), remembered);
  using _busy = listen(remembered.port);
  const said: string[] = [];
  const log = (message: string) => said.push(message);
  const chosen = await chooseServerPorts({}, { log, remembered });
  assert.ok(chosen.port > remembered.port);
  assert.equal(chosen.uiPort, chosen.port + 1000);
  assert.match(said[0] ?? "", /^port \d+ or \d+ is busy: using \d+ and \d+$/);
});
