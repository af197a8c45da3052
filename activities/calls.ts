import { cancellationSignal } from "@temporalio/activity";
import type { ShardInput } from "../core/plan/run.ts";
import { callKey } from "../core/plan/ids.ts";
import {
  decodeTrajectories,
  encodeTrajectories,
  type OpenCall,
  type ReceivedReply,
  takeReplies,
  type Trajectory,
} from "../core/rollouts/mod.ts";
import type { ArtifactRef } from "../core/storage/artifacts.ts";
import type { CompletedCall } from "../core/storage/ledger.ts";
import { callScope, turnRules } from "./_shard.ts";
import { queryCalls } from "./candidates.ts";
import type { Ports } from "./ports.ts";
import { startPulse } from "./pulse.ts";

export type CandidateActivities = ReturnType<typeof createCandidateActivities>;

/** Either every reply is in (`trajectories` holds them), or the shard must wait. */
export type QueriedCalls =
  | {
    readonly trajectories: ArtifactRef;
    /** Trajectories that want another turn. */
    readonly live: number;
    readonly ms: number;
    readonly wait: null;
  }
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

/** After this time nothing more is sent in one attempt; the workflow asks again. */
const DEADLINE_MS = 10 * 60 * 1000;

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
      const keyOf = (trajectory: Trajectory, { turn, call }: OpenCall) =>
        callKey({
          phase: input.phase,
          scope,
          round: input.round,
          slot: trajectory.slot,
          rollout: trajectory.rollout,
          turn,
          call,
        });
      const planned = trajectories.flatMap((trajectory) =>
        trajectory.open.map((call) => ({
          key: keyOf(trajectory, call),
          run: input.run,
          phase: input.phase,
          step: input.step,
          request: {
            model: call.model,
            messages: [{ role: "user" as const, content: call.question }],
            max_tokens: kit.config.pool.max_tokens,
          },
        }))
      );
      const { client, environment, limits, config } = kit;
      const result = await queryCalls(
        { ledger: ports.ledger, client, candidates: environment.candidates },
        planned,
        {
          limits,
          concurrency: config.pool.concurrency,
          signal: cancellationSignal(),
          deadlineMs: DEADLINE_MS,
        },
      );
      const ms = Date.now() - startedAt;
      if (result.parked !== null) {
        return {
          trajectories: null,
          ms,
          wait: { ...result.parked, retryAfterMs: 0, parked: true },
        };
      }
      if (result.waiting !== null) {
        const { kind, reason, retryAfterMs } = result.waiting;
        return { trajectories: null, ms, wait: { kind, reason, retryAfterMs, parked: false } };
      }
      const answered = trajectories.map((trajectory) =>
        trajectory.status !== "waiting" ? trajectory : takeReplies(
          trajectory,
          new Map(trajectory.open.map((call) => [
            call.call,
            toReply(result.completed.get(keyOf(trajectory, call))),
          ])),
          turnRules(kit, trajectory),
        )
      );
      return {
        trajectories: await ports.artifacts.put(encodeTrajectories(answered)),
        live: answered.filter((trajectory) => trajectory.status === "live").length,
        ms,
        wait: null,
      };
    },
  };
}

/** A refused or withdrawn call gives no reply: its rollout is dropped and counted. */
function toReply(call: CompletedCall | undefined): ReceivedReply {
  if (call === undefined || call.outcome === "refused") return "dropped";
  const { outcome, text, usage, costPico } = call;
  return { outcome, text, usage, costPico };
}
