import {
  allHandlersFinished,
  condition,
  continueAsNew,
  currentUpdateInfo,
  defineUpdate,
  setHandler,
  workflowInfo,
} from "@temporalio/workflow";
import { isDue } from "../core/plan/mod.ts";
import { stepId } from "../core/plan/ids.ts";
import { light } from "./_activities.ts";
import { createBoard, type RunStatus } from "./_board.ts";
import { createFamily } from "./_shards.ts";
import { flag, readInput, settings, text } from "./_input.ts";
import { isStopped, together } from "./_stop.ts";
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

export const setCoefficient = defineUpdate<
  { before: number; after: number; fromStep: number },
  [{ value: number }]
>("setCoefficient");

/** One run: warm start, then one child workflow a step, evaluations on the way and at the end. */
export async function trainRouter(given: TrainRouterInput = {}): Promise<RunStatus> {
  const input = readInput<TrainRouterInput>("trainRouter", given, {
    preset: text,
    run: text,
    overrides: settings,
    paused: flag,
  });
  const run = input.run ?? workflowInfo().workflowId;
  const board = createBoard(run);
  board.paused = input.paused ?? false;
  let stopping = false;
  let iterating = false;
  let begun = false;
  let changing = 0;
  const family = createFamily({
    paused: board.paused,
    onChange: (paused) => {
      board.paused = paused;
      board.show();
    },
    onStop: () => {
      stopping = true;
    },
  });
  setHandler(setCoefficient, async ({ value }) => {
    await condition(() => begun);
    changing++;
    try {
      const change = await light.recordCoefficient({
        run,
        id: currentUpdateInfo()!.id,
        value,
        fromStep: board.step + (iterating ? 2 : 1),
      });
      board.costCoe = change.after;
      return change;
    } finally {
      changing--;
    }
  }, {
    validator: checkCoefficient,
    description: 'Price of a dollar in reward, from the next step on: {"value": 100}.',
  });

  const plan = await light.resolveRun({
    preset: input.preset ?? "quickstart",
    run,
    overrides: input.overrides ?? [],
  });
  board.adopt(plan);
  begun = true;
  const { llmQueue, totalSteps } = plan;
  const evaluate = (step: number, split: "dev" | "test", script?: string) =>
    family.run(
      evaluateRouter,
      `${stepId(run, step)}/eval-${split}${script === undefined ? "" : `-${script}`}`,
      { run, step, split, paused: family.paused, ...(script !== undefined && { script }) },
      `${split} questions · ${script ?? `policy at step ${step}`}`,
    );

  if (plan.complete) {
    board.enter("complete");
    return board.status();
  }
  const train = async () => {
    if (plan.committedStep === null) {
      board.enter("warm start");
      const args = { run, llmQueue, paused: family.paused };
      await family.run(warmStart, `${run}/warm-start`, args, "demonstrations, then imitation");
    }
    while (true) {
      const { step } = board;
      if (step === 0 ? plan.valBeforeTrain : isDue(step, plan.testFreq, totalSteps)) {
        board.enter("evaluating");
        await evaluate(step, "dev");
      }
      if (step >= totalSteps) break;
      await condition(() => !family.paused || stopping);
      if (stopping) return "stopped" as const;
      if (workflowInfo().continueAsNewSuggested && allHandlersFinished()) {
        await continueAsNew<typeof trainRouter>({
          ...input,
          run,
          overrides: [], // the run has taken them up; newer ones may have followed
          paused: family.paused,
        });
      }
      await condition(() => changing === 0); // a step is planned at the price the log says
      board.enter("training");
      iterating = true;
      board.record(
        await family.run(
          trainIteration,
          stepId(run, step + 1),
          { run, step: step + 1, llmQueue, paused: family.paused },
          `step ${step + 1} of ${totalSteps}`,
        ),
      );
      iterating = false;
    }

    board.enter("evaluating");
    const best = await light.chooseBest({ run });
    await together(plan.baselines.map((script) => evaluate(best.step, "test", script)));
    if (best.step !== 0) await evaluate(0, "test");
    await evaluate(best.step, "test");
    await light.concludeRun({ run });
    await condition(allHandlersFinished);
    return "complete" as const;
  };
  const ended = await train().catch((error: unknown) => {
    if (isStopped(error)) return "stopped" as const;
    throw error;
  });
  board.enter(ended);
  return board.status();
}

function checkCoefficient(change: { value: number } | null): void {
  const value = change?.value;
  if (typeof value === "number" && Number.isFinite(value) && value >= 0) return;
  throw new RangeError(
    `Cannot set the coefficient: value is ${
      JSON.stringify(value)
    }, must be a number of reward per dollar, 0 or more`,
  );
}
