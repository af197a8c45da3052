import {
  condition,
  defineQuery,
  getExternalWorkflowHandle,
  setCurrentDetails,
  setHandler,
  sleep,
  workflowInfo,
} from "@temporalio/workflow";
import { stepId } from "../core/plan/ids.ts";
import type { ShardInput, ShardResult, Wait } from "../core/plan/run.ts";
import { callsOn, device, scripted } from "./_activities.ts";
import { noteWait, pause, resume, stop } from "./_signals.ts";
import { stopped } from "./_stop.ts";

export const shardStatus = defineQuery<{ turn: number; wait: Wait | null; paused: boolean }>(
  "status",
);

/** Waits in a row lengthen from the provider's word to this, so that a long outage writes little history. */
const LONGEST_WAIT_MS = 30_000;
/** How long a run with a bad key waits before it tries the key again. */
const KEY_PROBE = "5 minutes";

/**
 * Plays one shard of trajectories to their ends: turns and calls alternate. An outage waits here, as a
 * durable timer; an empty budget or a bad key parks here until an operator acts.
 */
export async function rollOut(input: ShardInput & { paused?: boolean }): Promise<ShardResult> {
  let paused = input.paused ?? false;
  let stopping = false;
  let resumes = 0;
  let turn = 0;
  const held: { wait: Wait | null } = { wait: null };
  setHandler(pause, () => void (paused = true), {
    description: "Stop before the next turn; calls in flight end first.",
  });
  setHandler(resume, () => {
    paused = false;
    resumes++;
  }, { description: "Go on; also wakes a parked shard." });
  setHandler(stop, () => void (stopping = true), {
    description: "End where it is paused or waits; otherwise play to the end.",
  });
  setHandler(shardStatus, () => ({ turn, wait: held.wait, paused }), {
    description: "The turn this shard is at and what it waits for.",
  });

  const root = workflowInfo().root?.workflowId;
  const tell = async (next: Wait | null) => {
    held.wait = next;
    setCurrentDetails(next === null ? `turn ${turn}` : `turn ${turn}: ${next.reason}`);
    if (root === undefined || root === workflowInfo().workflowId) return;
    await getExternalWorkflowHandle(root)
      .signal(noteWait, { id: workflowInfo().workflowId, wait: next })
      .catch(() => undefined); // the root may have been stopped: nobody to tell
  };

  /** Waits until it may go on, at most for `probe`; a stop ends the shard here. */
  const hold = async (free: () => boolean, probe?: typeof KEY_PROBE | undefined) => {
    const over = () => stopping || free();
    await (probe === undefined ? condition(over) : condition(over, probe));
    if (stopping && !free()) throw stopped();
  };
  const player = input.player.kind === "policy" ? device : scripted;
  const calls = callsOn(input.llmQueue);
  const place = `${stepId(input.run, input.step)} · ${input.phase} · shard ${input.shard}`;
  let trajectories: ShardResult["trajectories"] | null = null;
  let genMs = 0;
  let callMs = 0;
  let waited = 0;
  while (true) {
    if (paused) await hold(() => !paused);
    const played = await player.generateTurns.executeWithOptions(
      { summary: `${place} · turn ${turn + 1}` },
      [{ ...input, turn, trajectories }],
    );
    turn++;
    genMs += played.ms;
    trajectories = played.trajectories;
    let live = played.live;
    while (played.open > 0) {
      if (paused) await hold(() => !paused);
      const seen = resumes;
      const queried = await calls.queryCandidates.executeWithOptions(
        { summary: `${place} · ${played.open} calls` },
        [{ ...input, turn, trajectories }],
      );
      callMs += queried.ms;
      if (queried.trajectories !== null) {
        trajectories = queried.trajectories;
        live = queried.live;
        waited = 0;
        if (held.wait !== null) await tell(null);
        break;
      }
      const { kind, reason, retryAfterMs, parked } = queried.wait;
      const same = held.wait?.kind === kind ? held.wait : null;
      if (same?.reason !== reason) {
        await tell({ kind, reason, parked, since: same?.since ?? Date.now() });
      }
      if (!parked) {
        const longer = Math.min(retryAfterMs * 1.5 ** waited++, LONGEST_WAIT_MS);
        const slept = sleep(Math.max(retryAfterMs, longer), { summary: reason });
        await Promise.race([slept, condition(() => stopping)]);
        if (stopping) throw stopped();
      } else await hold(() => resumes > seen, kind === "bad_key" ? KEY_PROBE : undefined);
    }
    if (live === 0) break;
  }
  return { trajectories, genMs, callMs };
}
