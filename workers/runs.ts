/**
 * `deno task runs`: lists the runs of this state folder; `runs NAME` shows one, `runs delete NAME`
 * deletes its folder (the ledger keeps what was paid).
 * @module
 */
import process from "node:process";
import Table from "cli-table3";
import type { RunConfig } from "../configs/run.ts";
import { InvalidConfigError } from "../core/errors.ts";
import { runTask } from "./_options.ts";
import { createRunConfigs, type RunConfigs } from "./_run_configs.ts";
import { lastStep, renderSummary } from "./_view.ts";
import { stateDirectory, stopRun } from "./stack.ts";

await runTask(async () => {
  const args = process.argv.slice(2).filter((word) => !word.startsWith("--"));
  const json = process.argv.includes("--json") || !process.stdout.isTTY;
  const configs = createRunConfigs(await stateDirectory());
  const print = (text: string) => void process.stdout.write(text + "\n");
  if (args.length === 0) return print(await list(configs, json));
  const [verb, name] = args.length === 1 ? ["show", args[0]!] : [args[0]!, args[1]!];
  if (args.length > 2 || (args.length === 1 && name === "delete")) {
    throw new InvalidConfigError(
      `Cannot read "runs ${args.join(" ")}": say runs, runs NAME or runs delete NAME`,
    );
  }
  const known = await configs.folder.list();
  if (!known.includes(name)) {
    throw new InvalidConfigError(
      `Cannot find run "${name}": this state folder has ${known.join(", ") || "none"}`,
    );
  }
  if (verb === "show") return print(await show(configs, name, json));
  if (verb === "delete") {
    await stopRun(await stateDirectory(), name);
    await configs.folder.remove(name);
    return print(`Deleted run "${name}"; what it paid stays in the ledger`);
  }
  throw new InvalidConfigError(`Cannot "${verb}" a run: use show or delete`);
});

async function list(configs: RunConfigs, json: boolean): Promise<string> {
  const rows = await Promise.all((await configs.folder.list()).map(async (run) => {
    const stored = await configs.folder.readConfig(run).catch(() => null);
    const summary = await configs.summary(run).catch(() => null);
    const total = (stored?.config as RunConfig | undefined)?.trainer.total_training_steps ?? 0;
    const step = await lastStep(configs.metricsFile(run));
    const preset = stored?.preset ?? "?";
    return {
      run,
      preset,
      step,
      total,
      complete: summary !== null,
      regret: summary?.regret ?? null,
    };
  }));
  if (json) return rows.map((row) => JSON.stringify(row)).join("\n");
  if (rows.length === 0) return "No runs yet; start one with ./holdfast train";
  const table = new Table({
    head: ["run", "preset", "step", "state", "regret"],
    style: { head: [], border: [] },
  });
  for (const row of rows) {
    const state = row.complete ? "complete" : "open";
    table.push([
      row.run,
      row.preset,
      `${row.step}/${row.total}`,
      state,
      row.regret?.toFixed(3) ?? "",
    ]);
  }
  return table.toString();
}

async function show(configs: RunConfigs, run: string, json: boolean): Promise<string> {
  const summary = await configs.summary(run);
  if (json) return JSON.stringify(summary ?? await configs.folder.readConfig(run));
  if (summary !== null) return renderSummary(summary);
  const step = await lastStep(configs.metricsFile(run));
  return `Run "${run}" is at step ${step}; go on with ./holdfast train run=${run}`;
}
