import {
  allHandlersFinished,
  condition,
  continueAsNew,
  defineQuery,
  defineUpdate,
  setCurrentDetails,
  setHandler,
  upsertSearchAttributes,
  workflowInfo,
} from "@temporalio/workflow";
import { isDue } from "../core/plan/mod.ts";
import { stepId } from "../core/plan/ids.ts";
import type { RunPlan, SpendReport, StepReport, Wait } from "../core/plan/run.ts";
import { light } from "./_activities.ts";
import { createFamily } from "./_shards.ts";
import { noteWait, stop } from "./_signals.ts";
import { evaluateRouter } from "./evaluate_router.ts";
import { trainIteration } from "./train_iteration.ts";
import { warmStart } from "./warm_start.ts";

export interface TrainRouterInput {
  /** A file of `configs/runs/`; `quickstart` when absent. */
  readonly preset?: string;
  /** The run's name; the workflow id when absent. */
  readonly run?: string;
  /** `key.path=value` changes to the preset. */
  readonly overrides?: readonly string[];
  readonly paused?: boolean;
}

export interface RunStatus {
  readonly run: string;
  readonly state: "starting" | "warm start" | "evaluating" | "training" | "paused" | "waiting" | "parked" | "stopped" | "complete";
  readonly step: number;
  readonly totalSteps: number;
  readonly waits: readonly Wait[];
  readonly costCoe: number;
}

export const status = defineQuery<RunStatus>("status");
export const metrics = defineQuery<StepReport | null>("metrics");
export const spend = defineQuery<SpendReport | null>("spend");
export const setCoefficient = defineUpdate<
  { before: number; after: number; fromStep: number },
  [{ value: number }]
>("setCoefficient");

/** One run: warm start, then one child workflow a step, evaluations on the way and at the end. */
export async function trainRouter(input: TrainRouterInput): Promise<RunStatus> {
  const run = input.run ?? workflowInfo().workflowId;
  const waits = new Map<string, Wait>();
  let state: RunStatus["state"] = "starting";
  let step = 0;
  let last: StepReport | null = null;
  let plan: RunPlan | null = null;
  let costCoe = 0;
  let stopping = false;
  const family = createFamily({ paused: input.paused ?? false, onChange: () => show() });

  const current = (): RunStatus => {
    const list = [...waits.values()];
    const seen = list.some((wait) => wait.parked)
      ? "parked"
      : list.length > 0
      ? "waiting"
      : family.paused
      ? "paused"
      : state;
    return { run, state: seen, step, totalSteps: plan?.totalSteps ?? 0, waits: list, costCoe };
  };
  const show = () => {
    const now = current();
    const lines = [`| state | step | reward | cost | waits for |`, `|---|---|---|---|---|`];
    lines.push(
      `| ${now.state} | ${step}/${now.totalSteps} | ${last?.reward.toFixed(4) ?? ""} | ${
        last === null ? "" : "$" + last.spend.cost_usd.toFixed(4)
      } | ${now.waits.map((wait) => wait.reason).join("; ")} |`,
    );
    setCurrentDetails(lines.join("\n"));
  };
  setHandler(status, current, { description: "State, step, and what the run waits for." });
  setHandler(metrics, () => last, { description: "Numbers of the last committed step." });
  setHandler(spend, () => last?.spend ?? null, { description: "Calls and dollars of this run." });
  setHandler(stop, () => void (stopping = true), {
    description: "End after the present step; the same start command goes on from there.",
  });
  setHandler(noteWait, ({ id, wait }) => {
    if (wait === null) waits.delete(id);
    else waits.set(id, wait);
    show();
    publish();
  }, { description: "Used by the run's own shards: what they wait for." });
  setHandler(setCoefficient, async ({ value }) => {
    await condition(() => plan !== null);
    const change = await light.recordCoefficient({ run, value, fromStep: step + 1 });
    costCoe = value;
    return change;
  }, {
    validator: ({ value }) => {
      if (!(typeof value === "number" && Number.isFinite(value) && value >= 0)) {
        throw new RangeError(
          `Cannot set the coefficient: value is ${JSON.stringify(value)}, must be a number of reward per dollar, 0 or more`,
        );
      }
    },
    description: 'Price of a dollar in reward, from the next step: {"value": 100}.',
  });
  const publish = () => {
    if (plan?.searchAttributes !== true) return;
    const now = current();
    upsertSearchAttributes({
      HoldfastState: [now.state],
      HoldfastStep: [step],
      HoldfastPreset: [plan.preset],
      HoldfastNeedsOperator: [now.state === "parked"],
      ...(last === null ? {} : { HoldfastReward: [last.reward], HoldfastCostUsd: [last.spend.cost_usd] }),
    });
  };
  const enter = (next: RunStatus["state"]) => {
    state = next;
    show();
    publish();
  };
  const evaluate = async (at: number, split: "dev" | "test", script?: string) =>
    await family.run(
      evaluateRouter,
      `${stepId(run, at)}/eval-${split}${script === undefined ? "" : `-${script}`}`,
      [{ run, step: at, split, paused: family.paused, ...(script === undefined ? {} : { script }) }],
      `${split} · ${script ?? `policy at step ${at}`}`,
    );

  plan = await light.resolveRun({
    preset: input.preset ?? "quickstart",
    run,
    overrides: input.overrides ?? [],
  });
  costCoe = plan.costCoe;
  step = plan.committedStep ?? 0;
  const { llmQueue, totalSteps, testFreq } = plan;
  if (plan.complete) {
    enter("complete");
    return current();
  }
  if (plan.committedStep === null) {
    enter("warm start");
    await family.run(warmStart, `${run}/warm-start`, [{ run, llmQueue, paused: family.paused }], "warm start");
    if (plan.valBeforeTrain) {
      enter("evaluating");
      await evaluate(0, "dev");
    }
  }
  while (step < totalSteps) {
    if (family.paused) await condition(() => !family.paused || stopping);
    if (stopping) {
      enter("stopped");
      return current();
    }
    if (workflowInfo().continueAsNewSuggested && allHandlersFinished()) {
      await continueAsNew<typeof trainRouter>({ ...input, run, paused: family.paused });
    }
    enter("training");
    last = await family.run(
      trainIteration,
      stepId(run, step + 1),
      [{ run, step: step + 1, llmQueue, paused: family.paused }],
      `step ${step + 1}/${totalSteps}`,
    );
    step++;
    if (isDue(step, testFreq, totalSteps)) {
      enter("evaluating");
      await evaluate(step, "dev");
    }
  }
  enter("evaluating");
  const best = await light.chooseBest({ run });
  const players: (string | undefined)[] = [undefined, ...plan.baselines];
  if (best.step !== 0) await evaluate(0, "test");
  for (const script of players) await evaluate(best.step, "test", script);
  await light.concludeRun({ run, step: best.step });
  await condition(allHandlersFinished);
  enter("complete");
  return current();
}
