import assert from "node:assert/strict";
import { connectionSettings, externalServer } from "../../../adapters/temporal/connect.ts";

/** Sets variables for a scope; a config file of the machine is left out. */
function environment(values: Record<string, string>) {
  const all: Record<string, string> = { TEMPORAL_CONFIG_FILE: "/none/temporal.toml", ...values };
  const before = Object.keys(all).map((name) => [name, Deno.env.get(name)] as const);
  for (const [name, value] of Object.entries(all)) Deno.env.set(name, value);
  return {
    [Symbol.dispose]: () => {
      for (const [name, value] of before) {
        if (value === undefined) Deno.env.delete(name);
        else Deno.env.set(name, value);
      }
    },
  };
}

Deno.test("externalServer() is what TEMPORAL_ADDRESS and its kin name, or null", () => {
  {
    using _none = environment({});
    assert.equal(externalServer(), null);
  }
  using _some = environment({ TEMPORAL_ADDRESS: "db.example:7233", TEMPORAL_NAMESPACE: "team" });
  assert.deepEqual(externalServer(), { address: "db.example:7233", namespace: "team" });
});

Deno.test("connectionSettings() keeps the environment's key and namespace from a server of ours", () => {
  using _env = environment({
    TEMPORAL_ADDRESS: "db.example:7233",
    TEMPORAL_NAMESPACE: "team",
    TEMPORAL_API_KEY: "secret",
  });
  const theirs = connectionSettings({ address: "db.example:7233" });
  assert.equal(theirs.namespace, "team");
  assert.equal(theirs.connectionOptions.apiKey, "secret");
  assert.deepEqual(connectionSettings({}), theirs);
  assert.deepEqual(connectionSettings({ address: "127.0.0.1:7233" }), {
    connectionOptions: { address: "127.0.0.1:7233" },
    namespace: "default",
  });
});
