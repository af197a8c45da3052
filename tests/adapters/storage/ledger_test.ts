import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { join } from "node:path";
import { createLedger } from "../../../adapters/storage/ledger.ts";
import { DamagedArtifactError, FencedError, InvalidConfigError } from "../../../core/errors.ts";
import type { CallLedger } from "../../../core/storage/ledger.ts";
import { withFolder } from "./_folder.ts";
import { answerOf, intentOf, NO_LIMITS } from "./_intents.ts";

function withLedger(test: (ledger: CallLedger, path: string) => void): Promise<void> {
  return withFolder((dir) => {
    const path = join(dir, "ledger.db");
    const ledger = createLedger(path);
    try {
      test(ledger, path);
    } finally {
      ledger.close();
    }
  });
}

Deno.test("createLedger() keeps a settled call for whoever opens the file next", () =>
  withLedger((ledger, path) => {
    const text = 'a\0b "é" 😀';
    const { open } = ledger.begin([intentOf("k")], NO_LIMITS);
    assert.equal(ledger.spend("run").reservedPico, 10);
    ledger.settle([answerOf(open[0]!, text)]);
    const other = createLedger(path);
    assert.deepEqual(other.find([intentOf("k")]), new Map([["k", answerOf(open[0]!, text).call]]));
    assert.equal(other.find([intentOf("k", { requestSha256: "bb" })]).size, 0);
    const { calls, attempts, costPico, reservedPico, repaid, lost } = other.spend("run");
    assert.deepEqual([calls, attempts, costPico, reservedPico, repaid, lost], [1, 1, 7, 0, 0, 0]);
    other.close();
  }));

Deno.test("createLedger() never opens a call that is completed or in flight", () =>
  withLedger((ledger, path) => {
    const intents = [intentOf("done"), intentOf("flying")];
    const first = ledger.begin(intents, NO_LIMITS);
    ledger.settle([answerOf(first.open[0]!)]);
    const other = createLedger(path);
    for (const one of [ledger, other]) {
      const again = one.begin(intents, NO_LIMITS);
      assert.deepEqual(again.completed.map(({ key }) => key), ["done"]);
      assert.deepEqual(again.busy.map(({ key }) => key), ["flying"]);
      assert.deepEqual(again.open, []);
    }
    const { attempts, repaid } = other.spend("run");
    assert.deepEqual([attempts, repaid], [2, 0]);
    other.close();
  }));

Deno.test("createLedger() counts an attempt at a completed call as repaid, were there ever one", () =>
  withLedger((ledger, path) => {
    ledger.settle([answerOf(ledger.begin([intentOf("k")], NO_LIMITS).open[0]!)]);
    const db = new DatabaseSync(path);
    db.exec(`INSERT INTO attempts(key, request, run, phase, step, model, account, price_version,
      reserved_pico, owner, schema_version) VALUES ('k', 'aa', 'run', 'train', 1, 'm', 'a', 'v', 1, 'x', 1)`);
    db.close();
    assert.equal(ledger.spend("run").repaid, 1);
  }));

Deno.test("createLedger() opens in order and stops at the first call over the budget", () =>
  withLedger((ledger) => {
    const keys = ["a", "b", "c", "d"];
    const intents = keys.map((key) => intentOf(key, { reservedPico: key === "c" ? 15 : 5 }));
    const begun = ledger.begin(intents, { maxPico: 20, maxCalls: null });
    assert.deepEqual(begun.open.map(({ intent }) => intent.key), ["a", "b"]);
    assert.deepEqual(begun.refused.map(({ key }) => key), ["c", "d"]);
    ledger.fail(
      begun.open.map(({ attemptId }) => ({ attemptId, kind: "unavailable", chargedPico: 0 })),
    );
    assert.equal(ledger.begin([intents[2]!], { maxPico: 20, maxCalls: null }).open.length, 1);
    assert.equal(ledger.begin([intents[3]!], { maxPico: null, maxCalls: 1 }).refused.length, 1);
    const elsewhere = intentOf("e", { run: "other" });
    assert.equal(ledger.begin([elsewhere], { maxPico: 20, maxCalls: 1 }).open.length, 1);
  }));

Deno.test("createLedger() counts completed and open calls against max_calls, refused ones not", () =>
  withLedger((ledger) => {
    const limits = { maxPico: null, maxCalls: 2 };
    const { open } = ledger.begin(["a", "b", "c"].map((key) => intentOf(key)), limits);
    assert.equal(open.length, 2);
    const refused = answerOf(open[0]!);
    ledger.settle([{ ...refused, call: { ...refused.call, outcome: "refused", costPico: 0 } }]);
    assert.equal(ledger.spend("run").calls, 0);
    assert.equal(ledger.begin([intentOf("c")], limits).open.length, 1);
    ledger.settle([answerOf(open[1]!)]);
    assert.equal(ledger.begin([intentOf("d")], limits).refused.length, 1);
  }));

Deno.test("createLedger() keeps both answers of a key asked twice differently, and counts the branch", () =>
  withLedger((ledger) => {
    for (const requestSha256 of ["aa", "bb"]) {
      const { open } = ledger.begin([intentOf("k", { requestSha256 })], NO_LIMITS);
      ledger.settle([answerOf(open[0]!, requestSha256)]);
    }
    for (const requestSha256 of ["aa", "bb"]) {
      assert.equal(ledger.find([{ key: "k", requestSha256 }]).get("k")?.text, requestSha256);
    }
    const { calls, branches } = ledger.spend("run");
    assert.deepEqual([calls, branches], [2, 1]);
  }));

Deno.test("createLedger() settles all of a list or none", () =>
  withLedger((ledger) => {
    const { open } = ledger.begin([intentOf("a"), intentOf("b")], NO_LIMITS);
    ledger.fail([{ attemptId: open[1]!.attemptId, kind: "rate_limited", chargedPico: 2 }]);
    assert.throws(() => ledger.settle(open.map((attempt) => answerOf(attempt))), FencedError);
    assert.equal(ledger.find([intentOf("a")]).size, 0);
    assert.equal(ledger.spend("run").costPico, 2);
    ledger.settle([answerOf(open[0]!)]);
    assert.equal(ledger.spend("run").costPico, 9);
  }));

Deno.test("createLedger() loses what a closed ledger left open, and charges its reservation", () =>
  withLedger((ledger, path) => {
    const other = createLedger(path);
    other.begin([intentOf("a"), intentOf("b")], NO_LIMITS);
    assert.equal(ledger.loseDead(), 0);
    other.close();
    assert.equal(ledger.begin([intentOf("a")], NO_LIMITS).open.length, 1);
    const { lost, lostPico, costPico, reservedPico, open } = ledger.spend("run");
    assert.deepEqual([lost, lostPico, costPico, reservedPico, open], [2, 20, 20, 10, 1]);
  }));

Deno.test("createLedger() reports by step, model and account", () =>
  withLedger((ledger) => {
    const { open } = ledger.begin(
      [intentOf("a"), intentOf("b"), intentOf("c", { step: 2, model: "large" })],
      NO_LIMITS,
    );
    ledger.settle([answerOf(open[0]!)]);
    ledger.lose([{ attemptId: open[1]!.attemptId, kind: "unavailable" }]);
    ledger.fail([{ attemptId: open[2]!.attemptId, kind: "rate_limited", chargedPico: 0 }]);
    const line = { phase: "train", account: "world", failed: 0, lost: 0, settled: 0 };
    const nothing = { promptTokens: 0, completionTokens: 0, costPico: 0 };
    assert.deepEqual(
      ledger.report("run"),
      [
        { ...line, step: 1, model: "small", attempts: 2, settled: 1, lost: 1, costPico: 17 },
        { ...line, step: 2, model: "large", attempts: 1, failed: 1 },
      ].map((one, i) => ({
        ...nothing,
        ...(i === 0 ? { promptTokens: 3, completionTokens: 4 } : {}),
        ...one,
      })),
    );
  }));

Deno.test("createLedger() refuses a damaged file, a newer one and one it cannot write", () =>
  withFolder((dir) => {
    const path = join(dir, "ledger.db");
    createLedger(path).close();
    const newer = new DatabaseSync(path);
    newer.exec("PRAGMA user_version = 2");
    newer.close();
    assert.throws(
      () => createLedger(path),
      (error) => error instanceof InvalidConfigError && /schema version is 2/.test(error.message),
    );
    Deno.writeTextFileSync(path, "x".repeat(20_000));
    assert.throws(
      () => createLedger(path),
      (error) => error instanceof DamagedArtifactError && error.message.includes(path),
    );
    assert.throws(
      () => createLedger(dir),
      /Cannot open the call ledger .* not a file this user can write/,
    );
  }));

Deno.test("createLedger() comes back from a torn write-ahead log with whole transactions only", () =>
  withFolder((dir) => {
    const path = join(dir, "ledger.db");
    const ledger = createLedger(path);
    for (let i = 0; i < 20; i++) {
      const { open } = ledger.begin([intentOf(`k${i}a`), intentOf(`k${i}b`)], NO_LIMITS);
      ledger.settle(open.map((attempt) => answerOf(attempt)));
    }
    const copy = join(dir, "copy.db");
    Deno.copyFileSync(path, copy);
    Deno.copyFileSync(`${path}-wal`, `${copy}-wal`);
    ledger.close();
    Deno.truncateSync(`${copy}-wal`, Math.floor(Deno.statSync(`${copy}-wal`).size * 0.9));
    const torn = createLedger(copy);
    const { calls, costPico, lostPico, lost } = torn.spend("run");
    assert.ok(calls >= 10 && calls < 40 && calls % 2 === 0, `${calls}`);
    assert.equal(costPico - lostPico, calls * 7);
    assert.ok(lost === 0 || lost === 2);
    torn.close();
  }));
