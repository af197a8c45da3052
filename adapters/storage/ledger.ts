import type { StatementSync } from "node:sqlite";
import { type FailureKind, FencedError } from "../../core/errors.ts";
import type {
  BudgetLimits,
  CallIntent,
  CallLedger,
  CompletedCall,
  OpenAttempt,
  Spend,
  SpendLine,
} from "../../core/storage/mod.ts";
import { openLedgerFile, SCHEMA_VERSION } from "./_ledger_file.ts";
import { claimOwner, ownerDied } from "./_ledger_owner.ts";

type Row = Record<string, string | number | null>;
type CallId = Pick<CallIntent, "key" | "requestSha256">;

/**
 * The call ledger in a SQLite file (WAL, `synchronous=FULL`), shared by the processes of one machine. Money
 * sums are exact below 2^53 pico-dollars (9,007 $ a run) and rounded above. A damaged file is a
 * DamagedArtifactError, one of a newer schema an InvalidConfigError; another writer is waited for 10 s, then
 * FencedError. Opening loses what dead processes left open.
 */
export function createLedger(path: string): CallLedger {
  const file = openLedgerFile(path);
  const owner = file.guard(() => claimOwner(path));
  const sql = prepareAll(file.prepare);

  const loseDead = () => {
    let lost = 0;
    for (const { id } of sql.otherOwners.all(owner.id) as { id: string }[]) {
      if (!ownerDied(path, id)) continue;
      lost += Number(sql.loseOfOwner.run(id).changes);
      sql.removeOwner.run(id);
    }
    return lost;
  };
  file.transaction(() => {
    sql.addOwner.run(owner.id);
    loseDead();
  });

  const findOne = ({ key, requestSha256 }: CallId): CompletedCall | null => {
    const row = sql.findCall.get(key, requestSha256) as Row | undefined;
    return row === undefined ? null : toCall(row);
  };

  const spend = (run: string): Spend => {
    const row = sql.spend.get(run) as Row | undefined;
    const at = (name: string) => Number(row?.[name] ?? 0);
    return {
      calls: at("calls"),
      attempts: at("attempts"),
      repaid: at("repaid"),
      lost: at("lost"),
      branches: at("branches"),
      open: at("open"),
      costPico: at("cost_pico"),
      lostPico: at("lost_pico"),
      reservedPico: at("reserved_pico"),
    };
  };

  /** Losses not written yet: what could not be written when it was said. */
  const losses: { attemptId: string; kind: FailureKind }[] = [];
  const withLosses = <T>(change: () => T): T => {
    const result = file.transaction(() => {
      for (const { attemptId, kind } of losses) sql.lose.run(kind, Number(attemptId));
      return change();
    });
    losses.length = 0;
    return result;
  };

  const begin: CallLedger["begin"] = (intents, limits) => {
    loseDead();
    const open: OpenAttempt[] = [];
    const refused: CallIntent[] = [];
    const busy: CallIntent[] = [];
    const completed: CompletedCall[] = [];
    for (const intent of intents) {
      const known = findOne(intent);
      if (known !== null) completed.push(known);
      else if (sql.findOpen.get(intent.key, intent.requestSha256) !== undefined) busy.push(intent);
      else if (refused.length > 0 || !allows(limits, spend(intent.run), intent)) {
        refused.push(intent);
      } else {
        const { lastInsertRowid } = sql.open.run(
          intent.key,
          intent.requestSha256,
          intent.run,
          intent.phase,
          intent.step,
          intent.model,
          intent.account,
          intent.priceVersion,
          checkMoney(intent.reservedPico),
          owner.id,
          SCHEMA_VERSION,
        );
        open.push({ attemptId: String(lastInsertRowid), intent });
      }
    }
    return { open, refused, busy, completed };
  };

  const settleOne = (attemptId: string, call: CompletedCall) => {
    const { usage, costPico } = call;
    const { changes } = sql.settle.run(
      checkMoney(costPico),
      usage.promptTokens,
      usage.completionTokens,
      Number(attemptId),
      call.key,
      call.requestSha256,
    );
    if (changes !== 1) throw notOpen(attemptId);
    sql.addCall.run(JSON.stringify(call.text), call.outcome, Number(attemptId));
  };

  return {
    find: (calls) =>
      file.guard(() => {
        const found = calls.map(findOne).filter((call) => call !== null);
        return new Map(found.map((call) => [call.key, call]));
      }),
    begin: (intents, limits) => withLosses(() => begin(intents, limits)),
    settle: (results) =>
      file.transaction(() => {
        for (const { attemptId, call } of results) settleOne(attemptId, call);
      }),
    fail: (failures) =>
      file.transaction(() => {
        for (const { attemptId, kind, chargedPico } of failures) {
          const { changes } = sql.fail.run(checkMoney(chargedPico), kind, Number(attemptId));
          if (changes !== 1) throw notOpen(attemptId);
        }
      }),
    lose: (more) => {
      losses.push(...more);
      withLosses(() => undefined);
    },
    loseDead: () => file.transaction(loseDead),
    spend: (run) => file.guard(() => spend(run)),
    report: (run) => file.guard(() => (sql.report.all(run) as Row[]).map(toLine)),
    close: () => {
      file.close();
      owner.release();
    },
  };
}

function allows(limits: BudgetLimits, spent: Spend, intent: CallIntent): boolean {
  const pico = spent.costPico + spent.reservedPico + intent.reservedPico;
  const calls = spent.calls + spent.open + 1;
  return (limits.maxPico === null || pico <= limits.maxPico) &&
    (limits.maxCalls === null || calls <= limits.maxCalls);
}

function checkMoney(pico: number): number {
  if (Number.isSafeInteger(pico) && pico >= 0) return pico;
  throw new RangeError(
    `Cannot record money: it is ${pico} pico-dollars, not a whole number from 0`,
  );
}

function notOpen(attemptId: string): FencedError {
  return new FencedError(
    `Cannot end attempt ${attemptId}: it is not open any more; look the call up again`,
  );
}

function toCall(row: Row): CompletedCall {
  return {
    key: String(row["key"]),
    requestSha256: String(row["request"]),
    model: String(row["model"]),
    text: JSON.parse(String(row["text_json"])) as string,
    outcome: String(row["outcome"]) as CompletedCall["outcome"],
    usage: {
      promptTokens: Number(row["prompt_tokens"]),
      completionTokens: Number(row["completion_tokens"]),
    },
    costPico: Number(row["cost_pico"]),
  };
}

function toLine(row: Row): SpendLine {
  return {
    phase: String(row["phase"]),
    step: Number(row["step"]),
    model: String(row["model"]),
    account: String(row["account"]),
    attempts: Number(row["attempts"]),
    settled: Number(row["settled"]),
    failed: Number(row["failed"]),
    lost: Number(row["lost"]),
    promptTokens: Number(row["prompt_tokens"]),
    completionTokens: Number(row["completion_tokens"]),
    costPico: Number(row["cost_pico"]),
  };
}

function prepareAll(prepare: (sql: string) => StatementSync) {
  return {
    addOwner: prepare("INSERT INTO owners(id) VALUES (?)"),
    removeOwner: prepare("DELETE FROM owners WHERE id = ?"),
    otherOwners: prepare("SELECT id FROM owners WHERE id <> ?"),
    loseOfOwner: prepare(
      "UPDATE attempts SET state = 'lost', charged_pico = reserved_pico WHERE state = 'open' AND owner = ?",
    ),
    findCall: prepare("SELECT * FROM calls WHERE key = ? AND request = ?"),
    findOpen: prepare("SELECT 1 FROM attempts WHERE state = 'open' AND key = ? AND request = ?"),
    open: prepare(
      `INSERT INTO attempts(key, request, run, phase, step, model, account, price_version,
         reserved_pico, owner, schema_version) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ),
    settle: prepare(
      `UPDATE attempts SET state = 'settled', charged_pico = ?, prompt_tokens = ?,
         completion_tokens = ? WHERE id = ? AND state = 'open' AND key = ? AND request = ?`,
    ),
    addCall: prepare(
      `INSERT INTO calls(key, request, run, model, text_json, outcome, prompt_tokens, completion_tokens,
         cost_pico, attempt)
       SELECT key, request, run, model, ?, ?, prompt_tokens, completion_tokens, charged_pico, id
       FROM attempts WHERE id = ?`,
    ),
    fail: prepare(
      "UPDATE attempts SET state = 'failed', charged_pico = ?, kind = ? WHERE id = ? AND state = 'open'",
    ),
    lose: prepare(
      `UPDATE attempts SET state = 'lost', charged_pico = reserved_pico, kind = ?
       WHERE id = ? AND state = 'open'`,
    ),
    spend: prepare(
      `SELECT calls, attempts, repaid, lost, branches, open, CAST(cost_pico AS REAL) AS cost_pico,
         CAST(lost_pico AS REAL) AS lost_pico, CAST(reserved_pico AS REAL) AS reserved_pico
       FROM totals WHERE run = ?`,
    ),
    report: prepare(
      `SELECT phase, step, model, account, count(*) AS attempts, sum(state = 'settled') AS settled,
         sum(state = 'failed') AS failed, sum(state = 'lost') AS lost,
         sum(prompt_tokens) AS prompt_tokens, sum(completion_tokens) AS completion_tokens,
         CAST(sum(charged_pico) AS REAL) AS cost_pico
       FROM attempts WHERE run = ? GROUP BY phase, step, model, account
       ORDER BY phase, step, model, account`,
    ),
  };
}
