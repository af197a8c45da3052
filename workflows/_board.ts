import {
  defineQuery,
  setCurrentDetails,
  setHandler,
  upsertSearchAttributes,
} from "@temporalio/workflow";
import type { RunPlan, SpendReport, StepReport, Wait } from "../core/plan/run.ts";
import { noteWait } from "./_signals.ts";

/** What a run is doing when nothing holds it up. */
export type Doing = "starting" | "warm start" | "training" | "evaluating" | "stopped" | "complete";

export interface RunStatus {
  readonly run: string;
  readonly state: Doing | "paused" | "waiting" | "parked";
  readonly step: number;
  readonly totalSteps: number;
  readonly waits: readonly Wait[];
  /** Price of a dollar in reward. */
  readonly costCoe: number;
}

export const status = defineQuery<RunStatus>("status");
export const metrics = defineQuery<StepReport | null>("metrics");
export const spend = defineQuery<SpendReport | null>("spend");

/** The run as its operators see it: queries, current details, search attributes. */
export interface Board {
  step: number;
  costCoe: number;
  paused: boolean;
  /** Takes in the plan; before it nothing is published. */
  adopt(plan: RunPlan): void;
  enter(doing: Doing): void;
  record(report: StepReport): void;
  status(): RunStatus;
  show(): void;
}

export function createBoard(run: string): Board {
  const waits = new Map<string, Wait>();
  let doing: Doing = "starting";
  let plan: RunPlan | null = null;
  let last: StepReport | null = null;

  const state = (): RunStatus["state"] => {
    if (doing === "stopped" || doing === "complete") return doing;
    const list = [...waits.values()];
    if (list.some((wait) => wait.parked)) return "parked";
    if (board.paused) return "paused";
    return list.length > 0 ? "waiting" : doing;
  };
  const board: Board = {
    step: 0,
    costCoe: 0,
    paused: false,
    adopt: (next) => {
      plan = next;
      board.step = next.committedStep ?? 0;
      board.costCoe = next.costCoe;
    },
    enter: (next) => {
      doing = next;
      waits.clear(); // no shard lives between two doings: what is left is of one that was terminated
      board.show();
    },
    record: (report) => {
      last = report;
      board.step = report.step;
    },
    status: () => ({
      run,
      state: state(),
      step: board.step,
      totalSteps: plan?.totalSteps ?? 0,
      waits: [...waits.values()],
      costCoe: board.costCoe,
    }),
    show: () => {
      const now = board.status();
      const reasons = [...new Set(now.waits.map((wait) => wait.reason))].join("; ");
      const reward = last?.reward.toFixed(4) ?? "";
      const cost = last === null ? "" : `$${last.spend.cost_usd.toFixed(4)}`;
      setCurrentDetails([
        "| state | step | reward | spent | waits for |",
        "|---|---|---|---|---|",
        `| ${now.state} | ${now.step}/${now.totalSteps} | ${reward} | ${cost} | ${reasons} |`,
      ].join("\n"));
      if (plan?.searchAttributes !== true) return;
      upsertSearchAttributes({
        HoldfastState: [now.state],
        HoldfastStep: [now.step],
        HoldfastPreset: [plan.preset],
        HoldfastNeedsOperator: [now.state === "parked"],
        ...(last !== null &&
          { HoldfastReward: [last.reward], HoldfastCostUsd: [last.spend.cost_usd] }),
      });
    },
  };
  setHandler(status, board.status, { description: "State, step, and what the run waits for." });
  setHandler(metrics, () => last, { description: "Numbers of the last committed step." });
  setHandler(spend, () => last?.spend ?? null, { description: "Calls and dollars of this run." });
  setHandler(noteWait, ({ id, wait }) => {
    if (wait === null) waits.delete(id);
    else waits.set(id, wait);
    board.show();
  }, { description: "Used by the run's own shards: what they wait for." });
  return board;
}
