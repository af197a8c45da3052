import type { RunConfig } from "../configs/run.ts";
import type { LearnRow, LossSpec, OptimizerStep, PolicyEngine } from "../core/policy/engine.ts";
import { createRandom } from "../core/random.ts";
import { warmUp } from "../core/plan/mod.ts";

/** Separates the shuffles of mini-batches from every other use of the run's seed. */
const SHUFFLE = 0x6d626174;

/** The optimizer's numbers of a step of the run. */
function optimizerAt(config: RunConfig, step: number): OptimizerStep {
  const { optim, grad_clip } = config.actor_rollout_ref.actor;
  return {
    lr: warmUp(optim.lr, step - 1, optim.lr_warmup_steps),
    beta1: optim.betas[0],
    beta2: optim.betas[1],
    eps: optim.eps,
    weightDecay: optim.weight_decay,
    gradClip: grad_clip,
  };
}

function lossOf(config: RunConfig): LossSpec {
  const { actor } = config.actor_rollout_ref;
  return {
    type: "ppo_clip",
    clipRatioLow: actor.clip_ratio_low,
    clipRatioHigh: actor.clip_ratio_high,
    entropyCoeff: actor.entropy_coeff,
    klLossCoef: actor.use_kl_loss ? actor.kl_loss_coef : 0,
  };
}

/**
 * Applies one step's recorded batch: `ppo_epochs` passes of mini-batches, a pure function of the policy,
 * the batch and the config. Metrics are the means over its optimizer steps.
 */
export async function learnBatch(
  engine: PolicyEngine,
  config: RunConfig,
  step: number,
  rows: readonly LearnRow[],
): Promise<Record<string, number>> {
  if (rows.length === 0) return {}; // every rollout was dropped: nothing to learn
  const { actor, rollout } = config.actor_rollout_ref;
  const size = actor.ppo_mini_batch_size * rollout.n;
  const loss = lossOf(config);
  const optimizer = optimizerAt(config, step);
  const known = loss.klLossCoef > 0 ? await withReference(engine, rows) : rows;
  const steps: Readonly<Record<string, number>>[] = [];
  for (let epoch = 0; epoch < actor.ppo_epochs; epoch++) {
    const whole = size >= known.length;
    const order = whole
      ? known
      : createRandom(config.trainer.seed, SHUFFLE, step, epoch).shuffle(known);
    for (let from = 0; from < order.length; from += size) {
      steps.push(await engine.learn(order.slice(from, from + size), loss, optimizer));
    }
  }
  const means: Record<string, number> = {};
  for (const one of steps) {
    for (const [key, value] of Object.entries(one)) {
      means[key] = (means[key] ?? 0) + value / steps.length;
    }
  }
  return means;
}

async function withReference(engine: PolicyEngine, rows: readonly LearnRow[]): Promise<LearnRow[]> {
  const logProbs = await engine.logProbs(rows, "reference");
  return rows.map((row, i) => ({
    ...row,
    arrays: { ...row.arrays, ref_log_probs: logProbs[i]! },
  }));
}
