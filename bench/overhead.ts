/**
 * `deno task bench:overhead [PRESET] [key=value …]`: wall time of a run on Temporal against the same
 * activities called in one process without it, same seed, same work, one after the other.
 * @module
 */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { MockActivityEnvironment } from "@temporalio/testing";
import { createCandidateActivities, type QueriedCalls } from "../activities/calls.ts";
import { createPolicyActivities, type PlayedTurn } from "../activities/policy.ts";
import { createRunActivities } from "../activities/runs.ts";
import { isDue } from "../core/plan/mod.ts";
import type { ArtifactRef } from "../core/storage/mod.ts";
import type { ShardInput, ShardResult } from "../core/plan/run.ts";
import { freePort } from "../adapters/temporal/ports.ts";
import { readTrace, startTrain } from "../tests/_support/train_process.ts";
import { withStateDir } from "../tests/_support/campaign.ts";
import { createPorts } from "../workers/_activity_ports.ts";

const words = process.argv.slice(2);
const preset = words[0] ?? "quickstart";
const overrides = words.slice(1);
const RUN = preset;

/** Runs one activity as Temporal would, without a server. */
function call<I, O>(activity: (input: I) => Promise<O>, input: I): Promise<O> {
  return new MockActivityEnvironment().run(activity, input) as Promise<O>;
}

/** One at a time, as the device's queue does. */
function createLock(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const mine = last.then(work);
    last = mine.catch(() => undefined);
    return mine;
  };
}

/** The order of the workflows, as plain calls. */
async function runWithoutTemporal(stateDir: string): Promise<number> {
  const port = await freePort();
  const server = spawn(Deno.execPath(), [
    ...["run", "-A", fileURLToPath(new URL("../workers/answerers.ts", import.meta.url))],
    ...["--port", String(port), "--bill", join(stateDir, "world_bill.jsonl")],
  ], { stdio: ["pipe", "ignore", "inherit"] });
  const worldUrl = `http://127.0.0.1:${port}`;
  while (!await fetch(`${worldUrl}/health`).then((r) => r.ok, () => false)) {
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  const ports = createPorts({ stateDir, worldUrl, searchAttributes: false });
  const runs = createRunActivities(ports);
  const policy = createPolicyActivities(ports);
  const calls = createCandidateActivities(ports);
  const device = createLock();

  const startedAt = performance.now();
  const rollOut = async (input: ShardInput): Promise<ShardResult> => {
    let trajectories: ArtifactRef | null = null;
    for (let turn = 0;; turn++) {
      const given: ShardInput & { turn: number; trajectories: ArtifactRef | null } = {
        ...input,
        turn,
        trajectories,
      };
      const played: PlayedTurn = input.player.kind === "policy"
        ? await device(() => call(policy.generateTurns, given))
        : await call(policy.generateTurns, given);
      const next = played.trajectories;
      trajectories = next;
      let live = played.live;
      if (played.open > 0) {
        const queried: QueriedCalls = await call(calls.queryCandidates, {
          ...input,
          turn: turn + 1,
          trajectories: next,
        });
        assert.ok(queried.trajectories !== null, "the candidates are up");
        trajectories = queried.trajectories;
        live = queried.live;
      }
      if (live === 0) return { trajectories: trajectories!, genMs: 0, callMs: 0 };
    }
  };
  const playAll = async (shards: number, input: Omit<ShardInput, "shard">) => {
    const results = await Promise.all(
      Array.from({ length: shards }, (_, shard) => rollOut({ ...input, shard })),
    );
    return results.map((result) => result.trajectories);
  };
  const plan = await call(runs.resolveRun, { preset, run: RUN, overrides });
  const common = { run: RUN, round: 0, llmQueue: plan.llmQueue };
  const evaluate = async (step: number, split: "dev" | "test", script?: string) => {
    const { shards } = await call(runs.planEvaluation, { run: RUN, split, step });
    const player = script === undefined
      ? { kind: "policy", run: RUN, step } as const
      : { kind: "script", name: script } as const;
    const played = await playAll(shards, { ...common, phase: "eval", step, player, split });
    await call(runs.reportEvaluation, { run: RUN, split, player, step, shards: played });
  };
  const demonstrator = { kind: "script", name: "demonstrator" } as const;
  const { shards } = await call(runs.planWarmStart, { run: RUN });
  const demos = await playAll(shards, {
    ...common,
    phase: "warmup",
    step: 0,
    player: demonstrator,
  });
  await device(() => call(policy.warmStartPolicy, { run: RUN, shards: demos }));
  if (plan.valBeforeTrain) await evaluate(0, "dev");
  for (let step = 1; step <= plan.totalSteps; step++) {
    const began = Date.now();
    const { shards, costCoe } = await call(runs.planStep, { run: RUN, step });
    const player = { kind: "policy", run: RUN, step: step - 1 } as const;
    const played = await playAll(shards, { ...common, phase: "train", step, player });
    const { batch } = await call(runs.scoreStep, { run: RUN, step, costCoe, shards: played });
    const timing = { gen: 0, calls: 0, reward: 0 };
    await device(() =>
      call(policy.updatePolicy, { run: RUN, step, batch, startedAt: began, timing })
    );
    if (isDue(step, plan.testFreq, plan.totalSteps)) await evaluate(step, "dev");
  }
  const best = await call(runs.chooseBest, { run: RUN });
  await Promise.all(plan.baselines.map((script) => evaluate(best.step, "test", script)));
  if (best.step !== 0) await evaluate(0, "test");
  await evaluate(best.step, "test");
  await call(runs.concludeRun, { run: RUN });
  const seconds = (performance.now() - startedAt) / 1000;
  server.kill("SIGKILL");
  return seconds;
}

/** From the workflow's start to its end, without set-up of servers. */
async function runOnTemporal(stateDir: string): Promise<number> {
  const train = startTrain(stateDir, [preset, ...overrides]);
  await train.until(({ kind }) => kind === "status");
  const startedAt = performance.now();
  assert.equal(await train.exit, 0, train.stderr());
  return (performance.now() - startedAt) / 1000;
}

const rows: { name: string; seconds: number; weights: string }[] = [];
for (const [name, run] of Object.entries({ runWithoutTemporal, runOnTemporal })) {
  await withStateDir(async (stateDir) => {
    const seconds = await run(stateDir);
    const { summary } = await readTrace(stateDir, RUN);
    rows.push({ name, seconds, weights: summary.weights_sha256 });
    process.stdout.write(`${name}: ${seconds.toFixed(1)} s, weights ${summary.weights_sha256}\n`);
  });
}
assert.equal(rows[0]!.weights, rows[1]!.weights);
process.stdout.write(`ratio ${(rows[1]!.seconds / rows[0]!.seconds).toFixed(3)}\n`);
process.exit(0);
