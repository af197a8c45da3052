import assert from "node:assert/strict";
import { join } from "node:path";
import {
  type PlannedCall,
  queryCalls,
  type QueryOptions,
  type QueryPorts,
} from "../../activities/candidates.ts";
import { createOpenAiClient } from "../../adapters/routing/openai_client.ts";
import { createLedger } from "../../adapters/storage/ledger.ts";
import type { Candidate } from "../../core/routing/candidates.ts";
import type { CandidateRequest } from "../../core/routing/client.ts";
import { type Fault, startFaultyServer } from "../adapters/routing/_faulty_server.ts";
import { withFolder } from "../adapters/storage/_folder.ts";

/** 3 + 4 tokens of an answer cost 3 + 8 = 11 pico-dollars. */
const price = { promptPico: 1, completionPico: 2, version: "2026-01-01" };
const candidates: readonly Candidate[] = ["a", "b"].map((name) => ({
  name,
  description: "",
  account: `account-${name}`,
  price,
}));
/** 16 + 16 + 1 bytes of prompt and 8 tokens of answer. */
const RESERVED = 33 + 16;

function planned(count: number, model = "a", question = "q"): PlannedCall[] {
  return Array.from({ length: count }, (_, i) => ({
    key: `train/run/1/${model}/s${i}`,
    run: "run",
    phase: "train",
    step: 1,
    request: { model, messages: [{ role: "user", content: question }], max_tokens: 8 },
  }));
}

interface Bench {
  readonly ports: QueryPorts;
  readonly server: ReturnType<typeof startFaultyServer>;
  readonly path: string;
  query(
    calls: readonly PlannedCall[],
    changes?: Partial<QueryOptions>,
  ): ReturnType<typeof queryCalls>;
}

/** A real ledger, client and server, which meets each request with a fault or an answer. */
function withBench(
  faultOf: (request: CandidateRequest, count: number) => Fault,
  test: (bench: Bench) => Promise<void>,
): Promise<void> {
  return withFolder(async (dir) => {
    await using server = startFaultyServer(faultOf);
    const path = join(dir, "ledger.db");
    const ledger = createLedger(path);
    const client = createOpenAiClient({ baseUrl: server.baseUrl, timeoutMs: 600 });
    const ports = { ledger, client, candidates };
    const options = {
      limits: { maxPico: null, maxCalls: null },
      concurrency: 8,
      signal: new AbortController().signal,
      deadlineMs: 10_000,
    };
    try {
      await test({
        ports,
        server,
        path,
        query: (calls, changes) => queryCalls(ports, calls, { ...options, ...changes }),
      });
    } finally {
      ledger.close();
    }
  });
}

Deno.test("queryCalls() answers every call once, and from the ledger ever after", () =>
  withBench(() => null, async ({ query, server, ports }) => {
    const calls = [...planned(40, "a"), ...planned(40, "b")];
    const first = await query(calls);
    assert.deepEqual([first.waiting, first.parked, first.dropped], [null, null, []]);
    assert.deepEqual([...first.completed.keys()], calls.map(({ key }) => key));
    const { text, costPico, outcome } = first.completed.get(calls[0]!.key)!;
    assert.deepEqual([text, costPico, outcome], ["echo: q", 11, "answered"]);
    assert.deepEqual(await query(calls), first);
    assert.equal(server.keys.length, 80);
    assert.equal(server.billed.size, 80);
    const spend = ports.ledger.spend("run");
    assert.deepEqual([spend.calls, spend.costPico, spend.reservedPico], [80, 80 * 11, 0]);
  }));

Deno.test("queryCalls() does not ask a model again that is rate limited, and goes on with others", () =>
  withBench(
    ({ model }) =>
      model === "a" ? new Response("", { status: 429, headers: { "retry-after": "7" } }) : null,
    async ({ query, server, ports }) => {
      const result = await query([...planned(20, "a"), ...planned(20, "b")]);
      assert.equal(result.completed.size, 20);
      assert.equal(result.parked, null);
      const { count, retryAfterMs, kind, models } = result.waiting!;
      assert.deepEqual([count, retryAfterMs, kind, models], [20, 7000, "rate_limited", ["a"]]);
      assert.ok(server.keys.length <= 24, `${server.keys.length}`);
      const { lost, costPico, open } = ports.ledger.spend("run");
      assert.deepEqual([lost, costPico, open], [0, 20 * 11, 0]);
    },
  ));

Deno.test("queryCalls() leaves a model alone after failures in a row, and asks it again next time", () => {
  let down = true;
  return withBench(
    () => down ? new Response("", { status: 500 }) : null,
    async ({ query, server }) => {
      const calls = planned(30);
      const { completed, waiting } = await query(calls);
      assert.deepEqual([completed.size, waiting?.kind, waiting?.count], [0, "unavailable", 30]);
      assert.ok(server.keys.length <= 6, `${server.keys.length}`);
      down = false;
      assert.equal((await query(calls)).completed.size, 30);
    },
  );
});

Deno.test("queryCalls() keeps what arrived among faults, and asks the rest again", () => {
  const faults: (() => Fault)[] = [
    () => new Response("", { status: 503 }),
    () => new Response("garbage"),
    () => "cut",
    () => "hang",
  ];
  let faulty = true;
  return withBench(
    (_request, count) => faulty && count % 5 === 0 ? faults[(count / 5) % 4]!() : null,
    async ({ query, server, ports }) => {
      const calls = planned(40);
      const { completed, waiting, dropped } = await query(calls);
      assert.equal(completed.size, 32);
      assert.deepEqual([waiting?.count, dropped], [8, []]);
      faulty = false;
      assert.equal((await query(calls)).completed.size, 40);
      assert.deepEqual(new Set(server.billed.values()), new Set([1]));
      const { lost, lostPico, repaid, calls: done } = ports.ledger.spend("run");
      // garbage, cut and hang may have been billed; 503 was not
      assert.deepEqual([lost, lostPico, repaid, done], [6, 6 * RESERVED, 0, 40]);
    },
  );
});

Deno.test("queryCalls() completes a filtered call and drops a refused one, for ever", () =>
  withBench(
    (_request, count) =>
      count <= 2
        ? Response.json({ error: { code: count === 1 ? "content_filter" : "bad" } }, {
          status: 400,
        })
        : null,
    async ({ query, server }) => {
      const calls = planned(3);
      for (let i = 0; i < 2; i++) {
        const { completed, dropped, waiting, parked } = await query(calls, { concurrency: 1 });
        assert.deepEqual([...completed.values()].map(({ outcome }) => outcome), [
          "content_filter",
          "answered",
        ]);
        assert.deepEqual([dropped, waiting, parked], [[calls[1]!.key], null, null]);
      }
      assert.equal(server.keys.length, 3);
    },
  ));

Deno.test("queryCalls() drops calls to a model that is not in the pool", () =>
  withBench(() => null, async ({ query, server }) => {
    const { dropped, completed } = await query([...planned(2, "gone"), ...planned(1)]);
    assert.deepEqual([dropped.length, completed.size, server.keys.length], [2, 1, 1]);
  }));

Deno.test("queryCalls() parks on a bad key and sends nothing more", () =>
  withBench(() => new Response("", { status: 401 }), async ({ query, server }) => {
    const { parked, waiting, completed } = await query(planned(50));
    assert.deepEqual([parked?.kind, waiting, completed.size], ["bad_key", null, 0]);
    assert.match(parked!.reason, /account-a/);
    assert.ok(server.keys.length <= 4, `${server.keys.length}`);
  }));

Deno.test("queryCalls() parks when every request is refused", () =>
  withBench(() => new Response("", { status: 404 }), async ({ query, server }) => {
    const { parked } = await query(planned(50));
    assert.equal(parked?.kind, "bad_request");
    assert.ok(server.keys.length >= 16 && server.keys.length <= 20, `${server.keys.length}`);
  }));

Deno.test("queryCalls() spends a budget to the end, parks, and goes on when it is raised", () =>
  withBench(() => null, async ({ query, server, ports }) => {
    const calls = planned(20);
    const maxPico = 6 * 11 + RESERVED + 5; // seven calls fit, one by one at the end
    const { completed, parked, waiting } = await query(calls, {
      limits: { maxPico, maxCalls: null },
    });
    assert.deepEqual([completed.size, parked?.kind, waiting], [7, "out_of_budget", null]);
    assert.equal(ports.ledger.spend("run").costPico, 77);
    const more = await query(calls, { limits: { maxPico: null, maxCalls: 15 } });
    assert.deepEqual([more.completed.size, more.parked?.kind], [15, "out_of_budget"]);
    assert.equal((await query(calls)).parked, null);
    assert.equal(server.keys.length, 20);
  }));

Deno.test("queryCalls() does not park while others hold reservations that may shrink", () =>
  withBench(() => null, async ({ query, path }) => {
    const other = createLedger(path);
    const intent = {
      ...{ key: "x", requestSha256: "00", run: "run", phase: "train", step: 1, model: "a" },
      ...{ account: "account-a", priceVersion: "v", reservedPico: RESERVED },
    };
    const limits = { maxPico: RESERVED + 20, maxCalls: null };
    const { open } = other.begin([intent], limits);
    const { parked, waiting } = await query(planned(1), { limits });
    assert.deepEqual([parked, waiting?.kind, waiting?.count], [null, "busy", 1]);
    other.fail([{ attemptId: open[0]!.attemptId, kind: "unavailable", chargedPico: 0 }]);
    other.close();
    assert.equal((await query(planned(1), { limits })).completed.size, 1);
  }));

Deno.test("queryCalls() sends a call once when two queries overlap", () =>
  withBench(() => null, async ({ query, server }) => {
    const calls = planned(10);
    const results = await Promise.all([query(calls), query(calls)]);
    for (const { completed, waiting } of results) {
      assert.equal(completed.size + (waiting?.count ?? 0), 10);
      assert.ok(waiting === null || waiting.kind === "busy");
    }
    assert.equal(server.keys.length, 10);
    assert.equal((await query(calls)).completed.size, 10);
  }));

Deno.test("queryCalls() sends nothing after its time and says so", () =>
  withBench(() => null, async ({ query, server }) => {
    const { waiting } = await query(planned(3), { deadlineMs: 0 });
    assert.deepEqual([waiting?.kind, waiting?.retryAfterMs, waiting?.count], ["busy", 0, 3]);
    assert.equal(server.keys.length, 0);
  }));

Deno.test("queryCalls() lets an abort through and keeps what was in flight", () => {
  const abort = new AbortController();
  const reason = new Error("cancelled");
  return withBench(() => {
    abort.abort(reason);
    return null;
  }, async ({ query, server, ports }) => {
    await assert.rejects(query(planned(50), { signal: abort.signal }), reason);
    const { calls, lost, open } = ports.ledger.spend("run");
    assert.deepEqual([calls, lost, open], [server.billed.size, 0, 0]);
    assert.ok(server.keys.length <= 4, `${server.keys.length}`);
    await assert.rejects(query(planned(50), { signal: abort.signal }), reason);
  });
});

Deno.test("queryCalls() leaves no attempt open when the program breaks", () =>
  withBench(() => "hang", async ({ ports, query }) => {
    const broken = {
      ...ports,
      client: { ask: () => Promise.reject(new TypeError("a bug")) },
    };
    const options = {
      limits: { maxPico: null, maxCalls: null },
      concurrency: 2,
      signal: new AbortController().signal,
      deadlineMs: 1_000,
    };
    await assert.rejects(queryCalls(broken, planned(5), options), /a bug/);
    const { open, lost } = ports.ledger.spend("run");
    assert.deepEqual([open, lost], [0, 2]);
    assert.equal((await query([])).waiting, null);
  }));
