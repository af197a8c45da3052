import { decodeBatch } from "../core/algorithms/batch.ts";
import { DamagedArtifactError, EngineError } from "../core/errors.ts";
import type { PolicyEngine } from "../core/policy/engine.ts";
import { learnBatch } from "./_learn.ts";
import { type CommittedUpdate, policyKey, recordedDigest } from "./_log.ts";
import type { Ports, RunKit } from "./ports.ts";

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

  const restore = async (kit: RunKit, step: number, engine: PolicyEngine) => {
    const recorded = await recordedDigest(ports, kit.run, step);
    const start = await ports.checkpoints.newest(kit.run, "checkpoints", step);
    if (start === null) {
      throw new DamagedArtifactError(
        `Cannot load the policy of run "${kit.run}" at step ${step}: no complete checkpoint is left at or before it; restore one under checkpoints/ or delete the run and start it again`,
      );
    }
    let digest = await engine.load(start.state);
    for (let at = start.step + 1; at <= step; at++) {
      const record = await ports.journal.read<CommittedUpdate>(kit.run, policyKey(at));
      if (record === null) {
        throw new DamagedArtifactError(
          `Cannot rebuild step ${at} of run "${kit.run}": its log lacks log/${policyKey(at)}.json`,
        );
      }
      await learnBatch(
        engine,
        kit.config,
        at,
        decodeBatch(await ports.artifacts.get(record.batch)).rows,
      );
      digest = await engine.digest();
    }
    const same = digest.weights === recorded.weights && digest.optimizer === recorded.optimizer;
    if (!same && !kit.moved) {
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
