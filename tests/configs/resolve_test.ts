import assert from "node:assert/strict";
import { listPresets, loadPreset } from "../../adapters/data/presets.ts";
import { KNOWN_KEYS, nearest } from "../../configs/keys.ts";
import { compareConfigs, resolveConfig, RESUMABLE_KEYS } from "../../configs/resolve.ts";
import { InvalidConfigError } from "../../core/errors.ts";

const resolve = (...overrides: string[]) => resolveConfig({ preset: {}, overrides });

function refuses(overrides: readonly string[], message: RegExp, preset: unknown = {}): void {
  assert.throws(
    () => resolveConfig({ preset, overrides }),
    (error) => {
      assert.ok(error instanceof InvalidConfigError, String(error));
      assert.match(error.message, message);
      return true;
    },
  );
}

Deno.test("every preset of configs/runs resolves, and again from what it resolved to", async () => {
  const names = await listPresets();
  assert.ok(names.includes("quickstart") && names.includes("micro") && names.includes("replay_nq"));
  for (const name of names) {
    const config = resolveConfig({ preset: await loadPreset(name), overrides: [] });
    assert.deepEqual(resolveConfig({ preset: config, overrides: [] }), config);
  }
});

Deno.test("loadPreset() names the known presets for an unknown one", async () => {
  await assert.rejects(loadPreset("quikstart"), {
    name: "InvalidConfigError",
    message: /^Cannot find preset "quikstart": configs\/runs\/ has .*micro.*, quickstart/,
  });
  await assert.rejects(loadPreset("../runs/micro"), InvalidConfigError);
});

Deno.test("resolveConfig() reads values as JSON, else as text; the last one counts", () => {
  const config = resolve(
    "trainer.seed=2",
    "trainer.seed=3",
    "data.shuffle=false",
    "actor_rollout_ref.actor.optim.betas=[0.8,0.9]",
    "budget.max_usd=1.5",
    "pool.mode=replay",
    "pool.replay=pools/replay_nq.json",
  );
  assert.equal(config.trainer.seed, 3);
  assert.equal(config.data.shuffle, false);
  assert.deepEqual(config.actor_rollout_ref.actor.optim.betas, [0.8, 0.9]);
  assert.equal(config.budget.max_usd, 1.5);
  assert.equal(config.pool.replay, "pools/replay_nq.json");
  assert.equal(resolve("budget.max_usd=1", "budget.max_usd=null").budget.max_usd, null);
});

Deno.test("resolveConfig() leaves its preset as it was", () => {
  const preset = { trainer: { seed: 5 } };
  resolveConfig({ preset, overrides: ["trainer.seed=6"] });
  assert.deepEqual(preset, { trainer: { seed: 5 } });
});

Deno.test("resolveConfig() names the nearest known key for an unknown one", () => {
  refuses(["trainer.sed=2"], /^Cannot set trainer\.sed: .* nearest is trainer\.seed$/);
  refuses(["actor_rollout_ref.rolout.n=2"], /nearest is actor_rollout_ref\.rollout\.n$/);
  refuses(["__proto__.x=1"], /no such setting/);
  refuses(["trainer.seed.x=1"], /nearest is trainer\.seed$/);
  refuses(["trainer={}"], /no such setting/);
  refuses([], /^Cannot set budget\.max_dollars: .* nearest is budget\.max_/, {
    budget: { max_dollars: 1 },
  });
  refuses([], /^Cannot set tranier: /, { tranier: {} });
  refuses(["trainer.seed"], /it has no "="/);
});

Deno.test("resolveConfig() names field, value and what is expected", () => {
  refuses(["trainer.seed=two"], /^Cannot set trainer\.seed: it is "two", not a (whole )?number;/);
  refuses(["trainer.seed=1.5"], /^Cannot set trainer\.seed: it is 1\.5, not a whole number;/);
  refuses(["data.shuffle=1"], /^Cannot set data\.shuffle: it is 1, not true or false;/);
  refuses(["budget.max_usd=-1"], /^Cannot set budget\.max_usd: it is -1, not at least 0;/);
  refuses(["budget.max_calls=-5"], /^Cannot set budget\.max_calls: it is -5, not at least 0;/);
  refuses(["budget.max_usd=9001"], /it is 9001, not at most 9000;/);
  refuses(["pool.mode=live"], /it is "live", not "world" or "replay";/);
  refuses(["trainer.save_freq=0"], /^Cannot set trainer\.save_freq: it is 0, not at least 1;/);
  refuses(["actor_rollout_ref.rollout.temperature=0"], /it is 0, not above 0;/);
  refuses(["actor_rollout_ref.actor.optim.betas=0.9"], /it is 0\.9, not a list/);
  refuses(["data.train_batch_size="], /^Cannot set data\.train_batch_size: it is "", not/);
  refuses([], /^Cannot set trainer: it is 5, not a section/, { trainer: 5 });
  refuses([], /no JSON object/, []);
  refuses([], /no JSON object/, "quickstart");
});

Deno.test("resolveConfig() refuses settings that contradict each other", () => {
  const rollout = "actor_rollout_ref.rollout";
  const model = "actor_rollout_ref.model.config";
  refuses(
    [`${rollout}.n=1`],
    /^Cannot compare rollouts: .*rollout\.n is 1 .* set it to 2 or more$/,
  );
  refuses(
    ["data.train_batch_size=48"],
    /^Cannot cut a step into mini-batches: .* is 48, .* is 32;/,
  );
  refuses([`${model}.num_key_value_heads=3`], /^Cannot share key-value heads: .* is 3 for 4/);
  refuses([`${model}.head_dim=15`], /^Cannot turn pairs: .*head_dim is 15;/);
  refuses(
    ["data.max_response_length=50"],
    /^Cannot fit a call, its reply and an answer: .* is 50,/,
  );
  refuses(
    ["data.max_response_length=8", `${rollout}.multi_turn.max_assistant_turns=1`],
    /^Cannot fit a turn: /,
  );
  refuses(
    ["actor_rollout_ref.actor.use_kl_loss=true", "actor_rollout_ref.actor.kl_loss_coef=0"],
    /^Cannot use a KL loss: /,
  );
  refuses(
    ["warm_start.demonstrations=10"],
    /^Cannot warm-start: .* is 10, fewer than a batch of 64/,
  );
  refuses(["pool.mode=replay"], /^Cannot replay answers: pool\.replay is null/);
  refuses(["pool.replay=x.json"], /^Cannot use a recorded pool: pool\.replay is "x\.json"/);
  assert.equal(resolve("warm_start.steps=0", "warm_start.demonstrations=0").warm_start.steps, 0);
});

Deno.test("compareConfigs() takes up keys that may change and refuses others", () => {
  const begun = resolve();
  const wanted = resolve("trainer.total_training_steps=200", "budget.max_usd=3", "trainer.seed=9");
  assert.deepEqual(compareConfigs(begun, wanted), {
    adopted: ["trainer.total_training_steps", "budget.max_usd"],
    refused: [{ key: "trainer.seed", was: 1, now: 9 }],
  });
  assert.deepEqual(compareConfigs(begun, resolve()), { adopted: [], refused: [] });
  for (const key of RESUMABLE_KEYS) assert.ok(KNOWN_KEYS.includes(key), key);
});

Deno.test("nearest() counts edits", () => {
  assert.equal(nearest("trainer.sede", ["trainer.save_freq", "trainer.seed"]), "trainer.seed");
  assert.equal(nearest("x", []), null);
});
