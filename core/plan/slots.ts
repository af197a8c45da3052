import type { RunConfig } from "../../configs/run.ts";
import { createRandom, hashText } from "../random.ts";

/** A problem's place in a piece of work, and which of its group's rollouts this is. */
export interface Slot {
  readonly slot: number;
  readonly rollout: number;
  readonly problemId: string;
}

/** What a plan needs to know of a problem. */
export interface Planned {
  readonly id: string;
}

const TRAIN = hashText("order of training problems");
const DEMONSTRATIONS = hashText("order of demonstrated problems");

/** The rollouts of a step (steps count from 1): `train_batch_size` problems in order, `n` of each. */
export function planStep(
  problems: readonly Planned[],
  config: Pick<RunConfig, "data" | "trainer" | "actor_rollout_ref">,
  step: number,
): Slot[] {
  const { train_batch_size, seed, shuffle } = config.data;
  const order = createOrder(problems, shuffle ? [seed ?? config.trainer.seed, TRAIN] : null);
  const rollouts = Array.from({ length: config.actor_rollout_ref.rollout.n }, (_, i) => i);
  return Array.from(
    { length: train_batch_size },
    (_, slot) => order((step - 1) * train_batch_size + slot),
  ).flatMap((problemId, slot) => rollouts.map((rollout) => ({ slot, rollout, problemId })));
}

/** One rollout of each demonstration, over as many epochs as it takes. */
export function planDemonstrations(
  problems: readonly Planned[],
  config: Pick<RunConfig, "warm_start" | "trainer">,
): Slot[] {
  const order = createOrder(problems, [config.trainer.seed, DEMONSTRATIONS]);
  return Array.from(
    { length: config.warm_start.demonstrations },
    (_, slot) => ({ slot, rollout: 0, problemId: order(slot) }),
  );
}

/** One rollout of each of the first `maxSamples` problems; null means all. */
export function planEvaluation(problems: readonly Planned[], maxSamples: number | null): Slot[] {
  return problems.slice(0, maxSamples ?? problems.length)
    .map(({ id }, slot) => ({ slot, rollout: 0, problemId: id }));
}

/** The id at a position of endless epochs, each of which holds every problem once, shuffled by its own number. */
function createOrder(
  problems: readonly Planned[],
  seeds: readonly number[] | null,
): (position: number) => string {
  if (problems.length === 0) throw new RangeError("Cannot plan: there are no problems");
  const epochs = new Map<number, readonly Planned[]>();
  return (position) => {
    const epoch = Math.floor(position / problems.length);
    const order = epochs.get(epoch) ??
      (seeds === null ? problems : createRandom(...seeds, epoch).shuffle(problems));
    epochs.set(epoch, order);
    return order[position % problems.length]!.id;
  };
}
