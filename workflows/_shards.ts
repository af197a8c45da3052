import {
  type ChildWorkflowHandle,
  getExternalWorkflowHandle,
  ParentClosePolicy,
  setHandler,
  type SignalDefinition,
  sleep,
  startChild,
  type Workflow,
  workflowInfo,
} from "@temporalio/workflow";
import { ApplicationFailure, WorkflowExecutionAlreadyStartedError } from "@temporalio/common";
import { shardId } from "../core/plan/ids.ts";
import type { ShardInput, ShardResult } from "../core/plan/run.ts";
import { pause, resume, stop } from "./_signals.ts";
import { together } from "./_stop.ts";
import { rollOut } from "./roll_out.ts";

/** Attempts at an id that another run holds, and the longest wait between attempts in seconds. */
const PATIENCE = 5;

/** Children of a workflow that hear its `pause`, `resume` and `stop`. */
export interface Family {
  readonly paused: boolean;
  /** Runs every shard of a piece of work to its end, in parallel, results in shard order. */
  playShards(
    parentId: string,
    shards: number,
    input: Omit<ShardInput, "shard">,
  ): Promise<ShardResult[]>;
  /** Starts a child under its business id and waits for its result. */
  run<I, O>(
    workflow: (input: I) => Promise<O>,
    workflowId: string,
    input: I,
    summary: string,
  ): Promise<O>;
}

/** Takes over this workflow's `pause`, `resume` and `stop` signals and passes them on to its children. */
export function createFamily(
  options: { paused?: boolean; onChange?: (paused: boolean) => void; onStop?: () => void } = {},
): Family {
  const children = new Set<ChildWorkflowHandle<Workflow>>();
  let paused = options.paused ?? false;
  let stopping = false;
  const tell = (child: ChildWorkflowHandle<Workflow>, signal: SignalDefinition) =>
    child.signal<[]>(signal.name).catch(() => undefined); // it has just ended
  const toAll = async (signal: SignalDefinition) => {
    await Promise.all([...children].map((child) => tell(child, signal)));
  };
  const pass = async (signal: typeof pause | typeof resume, now: boolean) => {
    paused = now;
    options.onChange?.(now);
    await toAll(signal);
  };
  setHandler(pause, () => pass(pause, true), {
    description: "Stop between turns; nothing is lost and nothing is spent until resume.",
  });
  setHandler(resume, () => pass(resume, false), {
    description: "Go on after pause; also wakes a run parked for its budget or a key.",
  });
  setHandler(stop, async () => {
    stopping = true;
    options.onStop?.();
    await toAll(stop);
  }, {
    description: "End after the present step, at once where it is paused or waits; " +
      "the same start command goes on from there.",
  });

  const run: Family["run"] = async (workflow, workflowId, input, summary) => {
    const told = { paused, stopping };
    const child = await startAlone(workflowId, () =>
      startChild(workflow, {
        workflowId,
        args: [input],
        staticSummary: summary,
        parentClosePolicy: ParentClosePolicy.TERMINATE,
      }));
    children.add(child);
    if (paused !== told.paused) await tell(child, paused ? pause : resume); // said while it was starting
    if (stopping !== told.stopping) await tell(child, stop);
    try {
      return await child.result();
    } finally {
      children.delete(child);
    }
  };
  return {
    get paused() {
      return paused;
    },
    run,
    playShards: (parentId, shards, input) =>
      together(
        Array.from({ length: shards }, (_, shard) =>
          run(
            rollOut,
            shardId(parentId, input.round, shard),
            { ...input, shard, paused },
            `${input.phase} · shard ${shard + 1}/${shards}`,
          )),
      ),
  };
}

/**
 * Starts a child whose id may still be taken. Below our root's own id only what a reset or a termination
 * left behind can have it: that is cancelled, and what it computed and paid is found in the log. Below
 * another id it is the child of another workflow that works on the same run: we give way.
 */
async function startAlone<T>(workflowId: string, start: () => Promise<T>): Promise<T> {
  const { root, workflowId: self } = workflowInfo();
  const ours = workflowId.startsWith(`${root?.workflowId ?? self}/`);
  for (let tries = 1;; tries++) {
    try {
      return await start();
    } catch (error) {
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    }
    if (ours) await getExternalWorkflowHandle(workflowId).cancel().catch(() => undefined); // it has ended
    else if (tries === PATIENCE) {
      throw ApplicationFailure.nonRetryable(
        `Cannot start ${workflowId}: another workflow is working on this run; stop it first or choose another run name`,
        "FencedError",
      );
    }
    await sleep(Math.min(tries, PATIENCE) * 1000, { summary: `${workflowId} is still running` });
  }
}
