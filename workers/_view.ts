import { readFile } from "node:fs/promises";
import process from "node:process";
import cliProgress from "cli-progress";
import Table from "cli-table3";
import pc from "picocolors";
import type { RunSummary, SummaryRow } from "../core/plan/run.ts";
import type { RunStatus } from "../workflows/_board.ts";

/** A line of `metrics.jsonl`. */
export type MetricsLine = Readonly<Record<string, number | string>>;

/** A run's summary, with the seconds this command took. */
export type ShownSummary = RunSummary & { readonly wall_s: number };

/** Shows a run while it goes on, and its result. */
export interface RunView {
  /** Plain words on what is waited for before the run answers. */
  say(words: string): void;
  metrics(line: MetricsLine): void;
  status(status: RunStatus, detail: string | null): void;
  summary(summary: ShownSummary): void;
  close(): void;
}

/** JSON lines on stdout, one object each; the last one is the summary. */
export function createJsonView(): RunView {
  const print = (value: unknown) => void process.stdout.write(JSON.stringify(value) + "\n");
  let last = "";
  return {
    say: (words) => void process.stderr.write(words + "\n"),
    metrics: print,
    status: (status, detail) => {
      const text = JSON.stringify({ kind: "status", ...status, detail });
      if (text !== last) process.stdout.write(text + "\n");
      last = text;
    },
    summary: print,
    close: () => undefined,
  };
}

/** A progress bar with the numbers that matter, and a table at the end. */
export function createTerminalView(): RunView {
  const bar = new cliProgress.SingleBar({
    stream: process.stderr,
    hideCursor: true,
    clearOnComplete: true,
    format: (
      options: { barCompleteString?: string; barIncompleteString?: string },
      params: { total: number; value: number },
      payload: { text: string },
    ) => {
      const part = params.total === 0 ? 0 : params.value / params.total;
      const width = 24;
      const done = Math.round(part * width);
      const full = (options.barCompleteString ?? "=").slice(0, done);
      const rest = (options.barIncompleteString ?? "-").slice(0, width - done);
      const line = `${full}${rest} ${params.value}/${params.total} ${payload.text}`;
      const columns = process.stderr.columns ?? 120;
      return line.length < columns ? line : line.slice(0, columns - 1);
    },
  }, cliProgress.Presets.shades_classic);
  let started = false;
  const seen = { reward: "", cost: "", regret: "", share: "" };
  const start = () => {
    if (!started) bar.start(0, 0, { text: "" });
    started = true;
  };
  const stop = () => {
    if (started) bar.stop();
    started = false;
  };
  return {
    say: (words) => {
      stop();
      process.stderr.write(pc.dim(words) + "\n");
    },
    metrics: (line) => {
      if (line["kind"] === "train") {
        seen.reward = `reward ${fixed(line["critic/rewards/mean"])}`;
        seen.cost = `step $${fixed(line["external/cost_usd"])}`;
        seen.share = sharesOf(line);
      }
      const regret = Object.entries(line).find(([key]) => key.endsWith("/regret/mean@1"));
      if (regret !== undefined) seen.regret = `dev regret ${fixed(regret[1])}`;
    },
    status: (status, detail) => {
      start();
      bar.setTotal(status.totalSteps);
      const text = [
        detail ?? status.state,
        seen.reward,
        seen.regret,
        seen.cost,
        seen.share,
        ...status.waits.slice(0, 1).map((wait) =>
          `waits ${Math.round((Date.now() - wait.since) / 1000)} s: ${wait.reason}`
        ),
      ].filter((part) => part !== "").join(" · ");
      bar.update(status.step, { text });
    },
    summary: (summary) => {
      stop();
      process.stdout.write(renderSummary(summary) + "\n");
    },
    close: stop,
  };
}

const fixed = (value: unknown) => typeof value === "number" ? value.toFixed(3) : "–";
const percent = (part: number) => `${Math.round(part * 100)} %`;

function sharesOf(line: MetricsLine): string {
  const shares = Object.entries(line).filter(([key]) => key.startsWith("env/call_share/"));
  return shares.slice(0, 4)
    .map(([key, part]) => `${key.slice("env/call_share/".length)} ${percent(Number(part))}`)
    .join(" ");
}

/** The final table: the policy first, then what it is compared with, on the same questions. */
export function renderSummary(summary: RunSummary): string {
  const table = new Table({
    head: ["", "regret [95 %]", "exact match", "cost $", "policy better by [95 %]"],
    style: { head: [], border: [] },
    colAligns: ["left", "right", "right", "right", "right"],
  });
  const interval = ([low, high]: readonly [number, number]) => `[${fixed(low)}, ${fixed(high)}]`;
  const row = (
    name: string,
    entry: Omit<SummaryRow, "reward" | "regret_above_policy" | "regret_above_policy_ci">,
    above: string,
  ) =>
    table.push([
      name,
      `${fixed(entry.regret)} ${interval(entry.regret_ci)}`,
      fixed(entry.exact_match),
      entry.cost_usd.toFixed(4),
      above,
    ]);
  row(pc.bold(`trained (step ${summary.best_step})`), summary, "");
  for (const [name, entry] of Object.entries(summary.baselines)) {
    row(
      name,
      entry,
      `${fixed(entry.regret_above_policy)} ${interval(entry.regret_above_policy_ci)}`,
    );
  }
  const shares = Object.entries(summary.share).map(([model, part]) => `${model} ${percent(part)}`);
  const { ledger } = summary;
  return [
    `run ${summary.run} · preset ${summary.preset} · seed ${summary.seed} · ${summary.step} steps · weights ${
      summary.weights_sha256.slice(0, 16)
    }`,
    table.toString(),
    `calls per model: ${shares.join(", ")}`,
    `ledger: ${ledger.calls} calls, ${ledger.attempts} attempts, ${ledger.repaid} repaid, ${ledger.lost} lost, $${
      ledger.cost_usd.toFixed(4)
    }`,
  ].join("\n");
}

/** The last step in a run's `metrics.jsonl`; 0 when there is none. A torn last line does not count. */
export async function lastStep(metricsFile: string): Promise<number> {
  const text = await readFile(metricsFile, "utf8").catch(() => "");
  const lines = text.slice(0, text.lastIndexOf("\n") + 1).split("\n").filter((line) => line !== "");
  // evaluations of earlier steps follow the last step
  return Math.max(0, ...lines.map((line) => Number(JSON.parse(line)["training/global_step"] ?? 0)));
}
