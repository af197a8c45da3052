/** Business ids: the same work has the same name in every attempt, so a reset finds what is done. */

const pad = (n: number, width: number) => String(n).padStart(width, "0");

/** `{run}/step-000120` */
export function stepId(run: string, step: number): string {
  return `${run}/step-${pad(step, 6)}`;
}

/** `{parent}/shard-03`, or `{parent}/round-1/shard-03` for a refill round. */
export function shardId(parent: string, round: number, shard: number): string {
  return round === 0
    ? `${parent}/shard-${pad(shard, 2)}`
    : `${parent}/round-${round}/shard-${pad(shard, 2)}`;
}

/** Why a call is made; evaluations are named by what they judge, so two of one checkpoint pay once. */
export type Phase = "train" | "warmup" | "eval";

/** What one call is for. `scope` is `{run}/{step}` in training, `{weights}/{spec}` in evaluation. */
export interface CallPlace {
  readonly phase: Phase;
  readonly scope: string;
  readonly round: number;
  readonly slot: number;
  readonly rollout: number;
  readonly turn: number;
  readonly call: number;
}

/** The key a call is known by in the ledger. */
export function callKey(p: CallPlace): string {
  return `${p.phase}/${p.scope}/r${p.round}/s${p.slot}/g${p.rollout}/t${p.turn}/c${p.call}`;
}
