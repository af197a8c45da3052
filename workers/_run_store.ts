import { createHash } from "node:crypto";
import type { RunKit, RunStore, RunUpdate } from "../activities/ports.ts";
import { createTokenizer } from "../adapters/policy/tokenizer.ts";
import { createOpenAiClient } from "../adapters/routing/openai_client.ts";
import { createReplayClient } from "../adapters/routing/replay_client.ts";
import { loadRecordedRows } from "../adapters/data/recorded.ts";
import { resolveConfig } from "../configs/resolve.ts";
import type { RunConfig } from "../configs/run.ts";
import { InvalidConfigError } from "../core/errors.ts";
import type { Problem } from "../core/data/problems.ts";
import { createRecordedEnvironment } from "../core/recorded/mod.ts";
import type { Environment } from "../core/rollouts/environment.ts";
import { holdfastProtocol } from "../core/rollouts/mod.ts";
import type { CandidateClient } from "../core/routing/client.ts";
import { canonicalJson } from "../core/storage/mod.ts";
import { createWorld } from "../core/world/mod.ts";
import { huggingFaceConfig, modelConfigOf } from "./_model_config.ts";
import type { RunConfigs } from "./_run_configs.ts";

/** What is costly to build and the same for every run with equal settings. */
type Surroundings = Pick<
  RunKit,
  | "environment"
  | "problems"
  | "tokenizer"
  | "client"
  | "evaluationDigest"
  | "modelFiles"
  | "modelDigest"
>;

/** Builds kits from stored configs; surroundings are shared between runs whose settings agree. */
export function createRunStore(
  configs: RunConfigs,
  { registerWorld }: {
    /** Tells the world server of a world and gives the base URL it is served under. */
    registerWorld: (config: RunConfig["world"]) => Promise<string>;
  },
): RunStore {
  const built = new Map<string, Promise<Surroundings>>();
  let lastUpdate: Promise<void> = Promise.resolve(); // updates are written one after another

  const surroundings = async (config: RunConfig): Promise<Surroundings> => {
    const digest = (value: unknown) =>
      createHash("sha256").update(canonicalJson(value)).digest("hex");
    const { environment, client } = config.pool.mode === "world"
      ? await ofWorld(config)
      : await ofRecords(config);
    const problems = (["train", "dev", "test"] as const).flatMap((split) =>
      environment.problems(split)
    );
    const { rollout } = config.actor_rollout_ref;
    const tokenizer = createTokenizer(environment.tokenizerJson, environment.endOfText);
    return {
      environment,
      client,
      problems: new Map(problems.map((problem: Problem) => [problem.id, problem])),
      tokenizer,
      modelFiles: {
        "config.json": JSON.stringify(
          huggingFaceConfig(modelConfigOf(config, tokenizer), tokenizer),
          null,
          2,
        ),
        "tokenizer.json": environment.tokenizerJson,
      },
      evaluationDigest: digest({
        environment: environment.name,
        world: config.world,
        pool: config.pool.replay ?? null,
        questions: config.data.val_max_samples,
        protocol: rollout.protocol,
        turns: rollout.multi_turn.max_assistant_turns,
        tokens: [
          config.data.max_response_length,
          rollout.max_tool_response_length,
          rollout.max_new_tokens,
          config.pool.max_tokens,
        ],
      }),
      modelDigest: digest({
        model: config.actor_rollout_ref.model,
        tokenizer: environment.tokenizerJson,
        threads: config.trainer.num_threads,
      }),
    };
  };

  const ofWorld = async (config: RunConfig) => ({
    environment: createWorld(config.world) as Environment,
    client: createOpenAiClient({
      baseUrl: await registerWorld(config.world),
      timeoutMs: config.pool.timeout_s * 1000,
    }) as CandidateClient,
  });
  const ofRecords = async (config: RunConfig) => {
    const recorded = await loadRecordedRows(config.pool.replay!);
    const environment = createRecordedEnvironment(recorded);
    return { environment, client: createReplayClient(recorded) as CandidateClient };
  };
  return {
    begin: configs.begin,
    kit: async (run) => {
      const stored = await configs.folder.readConfig(run);
      if (stored === null) {
        throw new InvalidConfigError(
          `Cannot find run "${run}": it has no config.json; start it with ./holdfast train run=${run}`,
        );
      }
      const config = resolveConfig({ preset: stored.config, overrides: [] });
      const { actor_rollout_ref, pool, world, data, trainer } = config;
      const key = canonicalJson({
        actor_rollout_ref,
        pool,
        world,
        data,
        threads: trainer.num_threads,
      });
      const shared = built.get(key) ?? surroundings(config);
      built.set(key, shared);
      shared.catch(() => built.delete(key)); // the next ask tries again
      return {
        run,
        preset: stored.preset,
        moved: stored.moved,
        config,
        protocol: holdfastProtocol,
        limits: {
          maxPico: config.budget.max_usd === null ? null : Math.round(config.budget.max_usd * 1e12),
          maxCalls: config.budget.max_calls,
        },
        ...await shared,
      };
    },
    updates: async (run) => await configs.folder.readJson<RunUpdate[]>(run, "updates.json") ?? [],
    addUpdate: (run, update) => {
      const written = lastUpdate.then(async () => {
        const updates = await configs.folder.readJson<RunUpdate[]>(run, "updates.json") ?? [];
        await configs.folder.writeJson(run, "updates.json", [...updates, update]);
      });
      lastUpdate = written.catch(() => undefined);
      return written;
    },
    appendMetrics: configs.folder.appendMetrics,
    readSummary: configs.summary,
    writeSummary: (run, summary) => configs.folder.writeJson(run, "summary.json", summary),
  };
}
