import {
  type ChildWorkflowHandle,
  ParentClosePolicy,
  setHandler,
  type SignalDefinition,
  startChild,
  type Workflow,
} from "@temporalio/workflow";
import { ApplicationFailure, WorkflowExecutionAlreadyStartedError } from "@temporalio/common";
import { shardId } from "../core/plan/ids.ts";
import type { ShardInput, ShardResult } from "../core/plan/run.ts";
import { pause, resume, stop } from "./_signals.ts";
import { together } from "./_stop.ts";
import { rollOut } from "./roll_out.ts";

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
    const child = await startChild(workflow, {
      workflowId,
      args: [input],
      staticSummary: summary,
      parentClosePolicy: ParentClosePolicy.TERMINATE,
    }).catch((error: unknown) => {
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
      throw ApplicationFailure.nonRetryable(
        `Cannot start ${workflowId}: another workflow is working on this run; stop it first or choose another run name`,
        "FencedError",
      );
    });
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
