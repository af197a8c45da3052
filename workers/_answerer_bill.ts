import { closeSync, existsSync, openSync, readFileSync, writeSync } from "node:fs";

/** One attempt as the server bills it. */
export interface BillLine {
  /** The request's Idempotency-Key: equal for every attempt of one call. */
  readonly attempt: string;
  readonly model: string;
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly cost_pico: number;
}

/** The server's own durable record of what it answered. */
export interface Bill {
  /** In the file when it returns: a killed process loses no line. */
  add(line: BillLine): void;
  totals(): { attempts: number; cost_pico: number; repeated: number };
  close(): void;
}

/** Opens the bill, or goes on with it; a line torn by a kill is left out of the totals. */
export function openBill(file: string): Bill {
  const seen = new Set<string>();
  let attempts = 0;
  let cost = 0;
  let repeated = 0;
  const count = ({ attempt, cost_pico }: BillLine) => {
    attempts++;
    cost += cost_pico;
    if (seen.has(attempt)) repeated++;
    seen.add(attempt);
  };
  const text = existsSync(file) ? readFileSync(file, "utf8") : "";
  for (const line of text.split("\n")) {
    if (line.startsWith("{") && line.endsWith("}")) count(JSON.parse(line));
  }
  const handle = openSync(file, "a");
  if (text !== "" && !text.endsWith("\n")) writeSync(handle, "\n");
  return {
    add: (line) => {
      writeSync(handle, JSON.stringify(line) + "\n");
      count(line);
    },
    totals: () => ({ attempts, cost_pico: cost, repeated }),
    close: () => closeSync(handle),
  };
}
