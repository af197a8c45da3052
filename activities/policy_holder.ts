import { DamagedArtifactError, EngineError } from "../core/errors.ts";
import type { PolicyEngine, StateDigest } from "../core/policy/engine.ts";
import { decodeBatch } from "../core/algorithms/mod.ts";
import { stepId } from "../core/plan/ids.ts";
import type { ArtifactRef } from "../core/storage/artifacts.ts";
import type { Ports, RunKit } from "./ports.ts";
import { learnBatch } from "./_learn.ts";

/** What the run's log holds of a committed step. */
export interface CommittedUpdate {
  readonly batch: ArtifactRef;
  readonly digest: StateDigest;
  readonly metrics: Readonly<Record<string, number>>;
}

/** The journal key of a step's update, below the run. */
export const updateKey = (step: number) => `${stepId("", step).slice(1)}/update`;
export const warmStartKey = "warm-start/policy";

/**
 * Holds one policy in the engine and brings it to any step a run has committed: the nearest checkpoint,
 * then the recorded batches applied again, which gives the same bytes.
 */
export interface PolicyHolder {
  /** The engine with the policy as it is after `step` (0: after the warm start). */
  at(kit: RunKit, step: number): Promise<PolicyEngine>;
  /** Says that the engine now holds this step (after an update made here). */
  moved(kit: RunKit, step: number): void;
  /** Says that the engine's state is unknown. */
  lost(): void;
}

export function createPolicyHolder(ports: Ports): PolicyHolder {
  let held: { run: string; model: string; step: number } | null = null;

  const recordedDigest = async (run: string, step: number): Promise<StateDigest> => {
    const key = step === 0 ? warmStartKey : updateKey(step);
    const record = await ports.journal.read<{ digest: StateDigest }>(run, key);
    if (record === null) {
      throw new DamagedArtifactError(
        `Cannot load the policy of run "${run}" at step ${step}: its log has no such step; choose a committed step`,
      );
    }
    return record.digest;
  };

  const restore = async (kit: RunKit, step: number, engine: PolicyEngine) => {
    await recordedDigest(kit.run, step);
    const start = await ports.checkpoints.newest(kit.run, "checkpoints", step);
    if (start === null) {
      throw new DamagedArtifactError(
        `Cannot load the policy of run "${kit.run}" at step ${step}: no complete checkpoint is left at or before it; restore one under checkpoints/ or delete the run and start it again`,
      );
    }
    let digest = await engine.load(start.state);
    for (let at = start.step + 1; at <= step; at++) {
      const record = await ports.journal.read<CommittedUpdate>(kit.run, updateKey(at));
      if (record === null) {
        throw new DamagedArtifactError(
          `Cannot rebuild step ${at} of run "${kit.run}": its log lacks log/${updateKey(at)}.json`,
        );
      }
      await learnBatch(engine, kit.config, at, decodeBatch(await ports.artifacts.get(record.batch)));
      digest = await engine.digest();
    }
    const recorded = await recordedDigest(kit.run, step);
    if (digest.weights !== recorded.weights || digest.optimizer !== recorded.optimizer) {
      throw new HardwareMismatchError(kit.run, step);
    }
  };

  return {
    at: async (kit, step) => {
      const engine = await ports.engines.engine(kit);
      if (held?.run !== kit.run || held.model !== kit.modelDigest || held.step !== step) {
        held = null;
        await restore(kit, step, engine);
        held = { run: kit.run, model: kit.modelDigest, step };
      }
      return engine;
    },
    moved: (kit, step) => {
      held = { run: kit.run, model: kit.modelDigest, step };
    },
    lost: () => {
      held = null;
    },
  };
}

/** Recorded batches give other bytes here than where they were first applied. */
export class HardwareMismatchError extends EngineError {
  override readonly name = "HardwareMismatchError";
  override readonly kind = "damaged_artifact";
  override readonly retryable = false;
  constructor(run: string, step: number) {
    super(
      `Cannot rebuild the policy of run "${run}" at step ${step}: the recorded batches give other bytes on this processor, runtime or thread count; go on where it was begun, or from a checkpoint of exactly that step`,
    );
  }
}

