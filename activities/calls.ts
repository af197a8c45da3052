import { cancellationSignal } from "@temporalio/activity";
import type { ShardInput } from "../core/plan/run.ts";
import { callKey } from "../core/plan/ids.ts";
import { decodeTrajectories, encodeTrajectories, takeReplies } from "../core/rollouts/mod.ts";
import type { ArtifactRef } from "../core/storage/artifacts.ts";
import { queryCalls } from "./candidates.ts";
import { callScope, shardKey } from "./_shard.ts";
import type { Ports } from "./ports.ts";
import { startPulse } from "./pulse.ts";

export type CandidateActivities = ReturnType<typeof createCandidateActivities>;

/** Either every reply is in (`trajectories` holds them), or the shard must wait. */
export type QueriedCalls =
  | { readonly trajectories: ArtifactRef; readonly ms: number; readonly wait: null }
  | {
    readonly trajectories: null;
    readonly ms: number;
    readonly wait: {
      readonly kind: string;
      readonly reason: string;
      readonly retryAfterMs: number;
      readonly parked: boolean;
    };
  };

/** Paid calls. */
export function createCandidateActivities(ports: Ports) {
  return {
    /**
     * Sends a shard's open calls; each result is in the ledger before anything else sees it, so a second
     * attempt pays for nothing again. Rate limits, outages and an empty budget come back as a wait.
     */
    async queryCandidates(
      input: ShardInput & { turn: number; trajectories: ArtifactRef },
    ): Promise<QueriedCalls> {
      using _pulse = startPulse(`calls of turn ${input.turn}`);
      const startedAt = Date.now();
      const kit = await ports.runs.kit(input.run);
      const trajectories = decodeTrajectories(await ports.artifacts.get(input.trajectories));
      const scope = await callScope(ports, kit, input);
      const asked = trajectories.flatMap((trajectory) =>
        trajectory.open.map((call) => ({
          ...call,
          key: callKey({
            phase: input.phase,
            scope,
            round: input.round,
            slot: trajectory.slot,
            rollout: trajectory.rollout,
            turn: call.turn,
            call: call.call,
          }),
        }))
      );
      throw new Error("wired below");
    },
  };
}
