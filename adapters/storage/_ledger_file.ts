import { DatabaseSync, type StatementSync } from "node:sqlite";
import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { DamagedArtifactError, FencedError, InvalidConfigError } from "../../core/errors.ts";

/** Version of the tables below; a file of a newer one is refused. */
export const SCHEMA_VERSION = 1;

const BUSY_MS = 10_000;

/**
 * `totals` is what the rows add up to, kept by triggers so that reading it costs one row. An attempt counts
 * as repaid when its answer was there before it: begin() makes that impossible, the trigger would tell.
 * A reply is kept as a JSON string, because a plain text would end at its first NUL.
 */
const SCHEMA = `
CREATE TABLE owners(id TEXT PRIMARY KEY) STRICT;
CREATE TABLE calls(
  key TEXT NOT NULL, request TEXT NOT NULL, run TEXT NOT NULL, model TEXT NOT NULL,
  text_json TEXT NOT NULL, outcome TEXT NOT NULL CHECK (outcome IN ('answered', 'content_filter', 'refused')),
  prompt_tokens INTEGER NOT NULL, completion_tokens INTEGER NOT NULL, cost_pico INTEGER NOT NULL,
  attempt INTEGER NOT NULL REFERENCES attempts(id),
  PRIMARY KEY (key, request)
) STRICT, WITHOUT ROWID;
CREATE TABLE attempts(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  key TEXT NOT NULL, request TEXT NOT NULL, run TEXT NOT NULL, phase TEXT NOT NULL,
  step INTEGER NOT NULL, model TEXT NOT NULL, account TEXT NOT NULL, price_version TEXT NOT NULL,
  state TEXT NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'settled', 'failed', 'lost')),
  kind TEXT, reserved_pico INTEGER NOT NULL, charged_pico INTEGER NOT NULL DEFAULT 0,
  prompt_tokens INTEGER NOT NULL DEFAULT 0, completion_tokens INTEGER NOT NULL DEFAULT 0,
  owner TEXT NOT NULL, schema_version INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX attempts_open ON attempts(key, request) WHERE state = 'open';
CREATE INDEX attempts_open_of_owner ON attempts(owner) WHERE state = 'open';
CREATE INDEX attempts_of_run ON attempts(run, phase, step);
CREATE TABLE totals(
  run TEXT PRIMARY KEY,
  calls INTEGER NOT NULL DEFAULT 0, attempts INTEGER NOT NULL DEFAULT 0,
  repaid INTEGER NOT NULL DEFAULT 0, lost INTEGER NOT NULL DEFAULT 0,
  branches INTEGER NOT NULL DEFAULT 0, open INTEGER NOT NULL DEFAULT 0,
  cost_pico INTEGER NOT NULL DEFAULT 0, lost_pico INTEGER NOT NULL DEFAULT 0,
  reserved_pico INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
CREATE TRIGGER attempt_opens AFTER INSERT ON attempts BEGIN
  INSERT OR IGNORE INTO totals(run) VALUES (NEW.run);
  UPDATE totals SET attempts = attempts + 1, open = open + 1,
    reserved_pico = reserved_pico + NEW.reserved_pico,
    repaid = repaid + EXISTS (SELECT 1 FROM calls WHERE key = NEW.key AND request = NEW.request)
  WHERE run = NEW.run;
END;
CREATE TRIGGER attempt_ends AFTER UPDATE OF state ON attempts WHEN OLD.state = 'open' BEGIN
  UPDATE totals SET open = open - 1, reserved_pico = reserved_pico - NEW.reserved_pico,
    cost_pico = cost_pico + NEW.charged_pico, lost = lost + (NEW.state = 'lost'),
    lost_pico = lost_pico + (NEW.state = 'lost') * NEW.charged_pico
  WHERE run = NEW.run;
END;
CREATE TRIGGER call_completes AFTER INSERT ON calls BEGIN
  UPDATE totals SET calls = calls + (NEW.outcome <> 'refused'),
    branches = branches + EXISTS (SELECT 1 FROM calls WHERE key = NEW.key AND request <> NEW.request)
  WHERE run = NEW.run;
END;
PRAGMA user_version = ${SCHEMA_VERSION};
`;

/** The open file of a ledger, whose errors are sentences. */
export interface LedgerFile {
  prepare(sql: string): StatementSync;
  /** Runs statements that change nothing together. */
  guard<T>(read: () => T): T;
  /** Runs statements as one durable transaction, alone among all writers. */
  transaction<T>(change: () => T): T;
  close(): void;
}

/** Opens the file, or makes it, in WAL mode with every commit synced. */
export function openLedgerFile(path: string): LedgerFile {
  const guard = <T>(work: () => T): T => {
    try {
      return work();
    } catch (error) {
      throw explain(path, error);
    }
  };
  return guard(() => {
    mkdirSync(dirname(path), { recursive: true });
    const db = new DatabaseSync(path, { timeout: BUSY_MS });
    const transaction = <T>(change: () => T): T => {
      db.exec("BEGIN IMMEDIATE");
      try {
        const result = change();
        db.exec("COMMIT");
        return result;
      } catch (error) {
        if (db.isTransaction) db.exec("ROLLBACK");
        throw error;
      }
    };
    try {
      switchToWal(db);
      transaction(() => prepareSchema(db, path));
    } catch (error) {
      db.close();
      throw error;
    }
    return {
      prepare: (sql) => guard(() => db.prepare(sql)),
      guard,
      transaction: (change) => guard(() => transaction(change)),
      close: () => db.close(),
    };
  });
}

/** A new file is switched while nobody else reads it, and SQLite does not wait for that by itself. */
function switchToWal(db: DatabaseSync): void {
  const deadline = performance.now() + BUSY_MS;
  const pause = new Int32Array(new SharedArrayBuffer(4));
  while (true) {
    try {
      return db.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL");
    } catch (error) {
      const busy = /is locked/.test((error as Error).message);
      if (!busy || performance.now() > deadline) throw error;
      Atomics.wait(pause, 0, 0, 5);
    }
  }
}

function prepareSchema(db: DatabaseSync, path: string): void {
  const found = Number(db.prepare("PRAGMA user_version").get()?.["user_version"]);
  if (found > SCHEMA_VERSION) {
    throw new InvalidConfigError(
      `Cannot open the call ledger ${path}: its schema version is ${found} and this program knows ` +
        `${SCHEMA_VERSION}; use the newer program that wrote it`,
    );
  }
  if (found === 0) db.exec(SCHEMA);
}

/** By SQLite's words (https://sqlite.org/rescode.html): Deno gives its error codes for some calls only. */
function explain(path: string, error: unknown): unknown {
  if ((error as { code?: string }).code !== "ERR_SQLITE_ERROR") return error;
  const { message } = error as Error;
  const cause = { cause: error };
  if (/is locked/.test(message)) {
    return new FencedError(
      `Cannot use the call ledger ${path}: another process has held it for ${BUSY_MS / 1000} s; ` +
        `it is tried again`,
      cause,
    );
  }
  if (/not a database|malformed|corrupt/.test(message)) {
    return new DamagedArtifactError(
      `Cannot use the call ledger ${path}: the file is damaged; restore it from a copy, or move it away ` +
        `and lose the record of what was paid`,
      cause,
    );
  }
  if (/is full/.test(message)) {
    return new Error(
      `Cannot write the call ledger ${path}: the disk is full; free some space and it goes on`,
      cause,
    );
  }
  if (/readonly|unable to open/.test(message)) {
    return new Error(
      `Cannot open the call ledger ${path}: it is not a file this user can write; change the permissions ` +
        `of its folder or choose another`,
      cause,
    );
  }
  return error;
}
