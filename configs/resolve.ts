import type { z } from "zod";
import { InvalidConfigError } from "../core/errors.ts";
import { findContradiction } from "./contradictions.ts";
import { KNOWN_KEYS, nearest } from "./keys.ts";
import { RunConfig } from "./run.ts";

/**
 * The whole config of a run: a preset (parsed JSON; what it leaves out takes its default) with
 * `key.path=value` overrides, each value JSON or else a string; the last one of a key counts. A resolved
 * config is itself a preset. Throws InvalidConfigError with the first thing that is wrong.
 */
export function resolveConfig(
  { preset, overrides }: { readonly preset: unknown; readonly overrides: readonly string[] },
): RunConfig {
  const wanted = overrides.map(parseOverride).reduce<unknown>(
    (config, { key, value }) => withValue(config, key.split("."), value),
    preset,
  );
  const parsed = RunConfig.safeParse(wanted);
  if (!parsed.success) throw toConfigError(parsed.error.issues[0]!, wanted);
  const contradiction = findContradiction(parsed.data);
  if (contradiction !== null) throw new InvalidConfigError(contradiction);
  return parsed.data;
}

/** Settings a run that has begun may change; all others decide its bytes or what it is compared with. */
export const RESUMABLE_KEYS: readonly string[] = [
  "trainer.total_training_steps",
  "trainer.save_freq",
  "trainer.test_freq",
  "trainer.max_actor_ckpt_to_keep",
  "budget.max_usd",
  "budget.max_calls",
  "pool.concurrency",
  "pool.timeout_s",
];

/** What differs between the config a run began with and one it is to go on with. */
export function compareConfigs(begun: RunConfig, wanted: RunConfig): {
  readonly adopted: readonly string[];
  readonly refused: readonly {
    readonly key: string;
    readonly was: unknown;
    readonly now: unknown;
  }[];
} {
  const changed = KNOWN_KEYS
    .map((key) => ({ key, was: valueAt(begun, key), now: valueAt(wanted, key) }))
    .filter(({ was, now }) => JSON.stringify(was) !== JSON.stringify(now));
  return {
    adopted: changed.filter(({ key }) => RESUMABLE_KEYS.includes(key)).map(({ key }) => key),
    refused: changed.filter(({ key }) => !RESUMABLE_KEYS.includes(key)),
  };
}

function parseOverride(text: string): { key: string; value: unknown } {
  const at = text.indexOf("=");
  if (at < 1) {
    throw new InvalidConfigError(
      `Cannot read the setting "${text}": it has no "="; write key=value, such as trainer.seed=2`,
    );
  }
  const key = text.slice(0, at);
  if (!KNOWN_KEYS.includes(key)) throw unknownKey(key);
  return { key, value: parseValue(text.slice(at + 1)) };
}

function parseValue(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** A copy in which the value stands at the path. */
function withValue(config: unknown, path: readonly string[], value: unknown): unknown {
  const [key, ...rest] = path;
  if (key === undefined) return value;
  const members = isRecord(config) ? config : {};
  return { ...members, [key]: withValue(members[key], rest, value) };
}

function valueAt(config: unknown, key: string): unknown {
  return key.split(".").reduce((value, part) => isRecord(value) ? value[part] : undefined, config);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function unknownKey(key: string): InvalidConfigError {
  return new InvalidConfigError(
    `Cannot set ${key}: there is no such setting; the nearest is ${nearest(key, KNOWN_KEYS)}`,
  );
}

function toConfigError(issue: z.core.$ZodIssue, config: unknown): InvalidConfigError {
  const key = issue.path.join(".");
  if (issue.code === "unrecognized_keys") {
    return unknownKey([...issue.path, issue.keys[0]!].join("."));
  }
  if (key === "") {
    return new InvalidConfigError(
      'Cannot read the config: it is no JSON object; write sections such as {"trainer": {…}}',
    );
  }
  const value = JSON.stringify(valueAt(config, key)) ?? "missing";
  return new InvalidConfigError(
    `Cannot set ${key}: it is ${value}, not ${expectationOf(issue)}; give ${key} another value`,
  );
}

function expectationOf(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case "invalid_type":
      return NOUNS[issue.expected] ?? `of type ${issue.expected}`;
    case "invalid_value":
      return issue.values.map((value) => JSON.stringify(value)).join(" or ");
    case "too_small":
      return `${issue.inclusive === false ? "above" : "at least"} ${issue.minimum}`;
    case "too_big":
      return `${issue.inclusive === false ? "below" : "at most"} ${issue.maximum}`;
    default:
      return `valid (${issue.message})`;
  }
}

const NOUNS: Readonly<Record<string, string>> = {
  int: "a whole number",
  number: "a number",
  string: "a text",
  boolean: "true or false",
  object: "a section with settings of its own",
  tuple: "a list of two numbers",
};
