import assert from "node:assert/strict";
import { appendFile, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Answerers, startAnswerers } from "../../workers/_answerer_app.ts";
import { registerWorldAt } from "../../workers/_worlds.ts";
import { WorldConfig } from "../../configs/world.ts";
import { createWorld } from "../../core/world/mod.ts";

const CONFIG = WorldConfig.parse({
  ...{ seed: 4, entities: 40, relations: 8 },
  ...{ train_size: 100, dev_size: 20, test_size: 20 },
});

async function withServer(
  work: (server: Answerers, base: string, bill: string) => Promise<void>,
): Promise<void> {
  const dir = await mkdtemp(join(tmpdir(), "holdfast-answerers-"));
  const bill = join(dir, "bill.jsonl");
  const server = startAnswerers({ port: 0, bill });
  try {
    await work(server, await registerWorldAt(server.url)(CONFIG), bill);
  } finally {
    await server.stop();
    await rm(dir, { recursive: true });
  }
}

const world = createWorld(CONFIG);
const [candidate] = world.candidates;
const question = world.problems("test")[0]!.question;

function ask(base: string, key: string, model = candidate!.name): Promise<Response> {
  return fetch(`${base}/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", "idempotency-key": key },
    body: JSON.stringify({ model, messages: [{ role: "user", content: question }], max_tokens: 8 }),
  });
}

function setFault(server: Answerers, fault: unknown): Promise<Response> {
  return fetch(`${server.url}/admin/faults`, { method: "POST", body: JSON.stringify(fault) });
}

Deno.test("answerers speak OpenAI's chat form and list their models", () =>
  withServer(async (_server, base) => {
    const models = await (await fetch(`${base}/models`)).json();
    assert.equal(models.data.length, 8);
    const reply = await (await ask(base, "a")).json();
    assert.equal(reply.object, "chat.completion");
    assert.equal(reply.choices[0].finish_reason, "stop");
    assert.ok(reply.usage.prompt_tokens > 0 && reply.usage.completion_tokens > 0);
    const again = await (await ask(base, "b")).json();
    assert.deepEqual(again, reply);
    assert.equal((await ask(base, "c", "nobody")).status, 404);
    const bad = await fetch(`${base}/chat/completions`, { method: "POST", body: "{" });
    assert.equal(bad.status, 400);
    await bad.body?.cancel();
  }));

Deno.test("the bill has a line an answer, survives a restart, and a torn line is left out", () =>
  withServer(async (server, base, bill) => {
    for (const key of ["a", "b", "a"]) await (await ask(base, key)).body?.cancel();
    const lines = (await readFile(bill, "utf8")).trimEnd().split("\n").map((line) =>
      JSON.parse(line)
    );
    assert.deepEqual(lines.map(({ attempt }) => attempt), ["a", "b", "a"]);
    const totals = await (await fetch(`${server.url}/admin/bill`)).json();
    assert.equal(totals.attempts, 3);
    assert.equal(totals.repeated, 1);
    assert.equal(totals.cost_pico, lines.reduce((sum, line) => sum + line.cost_pico, 0));
    await appendFile(bill, '{"attempt":"torn');
    const next = startAnswerers({ port: 0, bill });
    const known = base.replace(server.url, next.url); // it knows the worlds of before
    await (await ask(known, "d")).body?.cancel();
    assert.equal((await (await fetch(`${next.url}/admin/bill`)).json()).attempts, 4);
    await next.stop();
  }));

Deno.test("the fault panel fails as told, bills nothing for it, and can be cleared", () =>
  withServer(async (server, base, bill) => {
    const set = async (fault: unknown) => {
      await (await fetch(`${server.url}/admin/faults`, { method: "DELETE" })).body?.cancel();
      const response = await setFault(server, fault);
      await response.body?.cancel();
      return response.status;
    };
    assert.equal(await set({ kind: "flood" }), 400);
    assert.equal(await set({ kind: "refuse" }), 400);
    await set({ kind: "rate_limit", retry_after_s: 7 });
    const limited = await ask(base, "a");
    assert.equal(limited.status, 429);
    assert.equal(limited.headers.get("retry-after"), "7");
    await limited.body?.cancel();
    await set({ kind: "server_error" });
    const broken = await ask(base, "a");
    assert.equal(broken.status, 500);
    await broken.body?.cancel();
    await set({ kind: "garbage" });
    await assert.rejects((await ask(base, "a")).json());
    await set({ kind: "cut_body" });
    await assert.rejects((await ask(base, "a")).text());
    await set({ kind: "server_error", models: ["another"] });
    await (await ask(base, "b")).json();
    assert.equal((await readFile(bill, "utf8")).trimEnd().split("\n").length, 1);
  }));

Deno.test("after refusing connections, with one hanging, the server is back on its port", () =>
  withServer(async (server, base) => {
    await (await setFault(server, { kind: "hang", for_s: 0.5 })).body?.cancel();
    const hanging = assert.rejects(ask(base, "a"));
    await (await setFault(server, { kind: "refuse", for_s: 0.4 })).body?.cancel();
    await hanging; // its connection is cut
    await assert.rejects(ask(base, "b"));
    await new Promise((resolve) => setTimeout(resolve, 800));
    assert.equal((await (await ask(base, "c")).json()).object, "chat.completion");
  }));
