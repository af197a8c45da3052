import { createHash } from "node:crypto";
import * as fs from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { DamagedArtifactError } from "../../core/errors.ts";
import type { LearnerState } from "../../core/policy/engine.ts";
import type { ModelConfig } from "../../core/policy/mod.ts";
import { decodeSafetensors, encodeSafetensors, type Tensor } from "../../core/storage/mod.ts";

/** What a checkpoint holds beside the learner's state. */
export interface CheckpointNotes {
  /** Kept as `actor/config.json`, so that the folder is a Hugging Face model. */
  readonly config?: ModelConfig;
  /** Kept as `actor/tokenizer.json`. */
  readonly tokenizerJson?: string;
  /** Small JSON values, kept in the manifest. */
  readonly extra?: Readonly<Record<string, unknown>>;
}

export interface Checkpoint extends CheckpointNotes {
  readonly state: LearnerState;
  readonly extra: Readonly<Record<string, unknown>>;
}

/** The newest whole checkpoint of a folder, and those passed over on the way to it. */
export interface FoundCheckpoint {
  readonly found:
    | { readonly step: number; readonly dir: string; readonly checkpoint: Checkpoint }
    | null;
  readonly skipped: readonly { readonly dir: string; readonly reason: string }[];
}

interface Manifest {
  readonly version: 1;
  readonly files: Readonly<Record<string, { readonly sha256: string; readonly bytes: number }>>;
  readonly extra: Readonly<Record<string, unknown>>;
}

const MANIFEST = "manifest.json";
const CONFIG = "actor/config.json";
const TOKENIZER = "actor/tokenizer.json";
const OPTIMIZER = "actor/optimizer.safetensors";

/** Tensors kept under their Hugging Face names, by the prefix they have in the state. */
const MODELS: Readonly<Record<string, string>> = {
  "actor/": "actor/model.safetensors",
  "reference/": "reference.safetensors",
};

/** Name of a step's folder. */
export function checkpointName(step: number): string {
  return `global_step_${step}`;
}

/**
 * Writes a checkpoint as a folder: `actor/model.safetensors`, `actor/optimizer.safetensors`, with a reference
 * also `reference.safetensors`, and `manifest.json` last, with size and SHA-256 of every file. It is all there
 * and durable when this returns, or not there at all; a folder of that name is replaced.
 */
export async function saveCheckpoint(
  dir: string,
  state: LearnerState,
  { config, tokenizerJson, extra = {} }: CheckpointNotes = {},
): Promise<void> {
  const files = filesOf(state);
  const text = (value: string) => new TextEncoder().encode(value);
  if (config !== undefined) files.set(CONFIG, text(configJson(config)));
  if (tokenizerJson !== undefined) files.set(TOKENIZER, text(tokenizerJson));
  const manifest: Manifest = {
    version: 1,
    files: Object.fromEntries(
      [...files].map(([name, bytes]) => [name, { sha256: sha256(bytes), bytes: bytes.length }]),
    ),
    extra,
  };
  const parent = dirname(dir);
  await fs.mkdir(parent, { recursive: true });
  for (const name of await fs.readdir(parent)) { // what a crash left of an earlier attempt
    if (name.startsWith(`${basename(dir)}.`)) await remove(join(parent, name));
  }
  const temporary = `${dir}.tmp`;
  for (const [name, bytes] of files) await writeSynced(join(temporary, name), bytes);
  await writeSynced(join(temporary, MANIFEST), text(JSON.stringify(manifest, null, 2) + "\n"));
  await sync(join(temporary, "actor"));
  await sync(temporary);
  await remove(dir);
  await fs.rename(temporary, dir);
  await sync(parent);
}

/** Reads a checkpoint back; throws DamagedArtifactError naming the file that is missing or altered. */
export async function loadCheckpoint(dir: string): Promise<Checkpoint> {
  const manifest = parseManifest(dir, await readFile(dir, MANIFEST));
  const state = new Map<string, Tensor>();
  const texts: Record<string, string> = {};
  for (const [name, { sha256: expected, bytes: size }] of Object.entries(manifest.files)) {
    const bytes = await readFile(dir, name);
    if (bytes.length !== size || sha256(bytes) !== expected) {
      throw damaged(dir, name, "its bytes are not those that were written");
    }
    if (!name.endsWith(".safetensors")) texts[name] = new TextDecoder().decode(bytes);
    else {
      const prefix = Object.keys(MODELS).find((key) => MODELS[key] === name) ?? "";
      for (const [key, tensor] of decodeSafetensors(bytes).tensors) state.set(prefix + key, tensor);
    }
  }
  return {
    state,
    extra: manifest.extra,
    ...(texts[CONFIG] === undefined ? {} : { config: JSON.parse(texts[CONFIG]) as ModelConfig }),
    ...(texts[TOKENIZER] === undefined ? {} : { tokenizerJson: texts[TOKENIZER] }),
  };
}

/** The newest checkpoint `global_step_N` in a folder with N ≤ `atMostStep` that can be read as a whole. */
export async function latestCheckpoint(
  parent: string,
  atMostStep: number,
): Promise<FoundCheckpoint> {
  const skipped: { dir: string; reason: string }[] = [];
  for (const step of (await checkpointSteps(parent)).reverse()) {
    if (step > atMostStep) continue;
    const dir = join(parent, checkpointName(step));
    try {
      return { found: { step, dir, checkpoint: await loadCheckpoint(dir) }, skipped };
    } catch (error) {
      if (!(error instanceof DamagedArtifactError)) throw error;
      skipped.push({ dir, reason: error.message });
    }
  }
  return { found: null, skipped };
}

/** Steps that have a checkpoint folder, whole or not, in rising order. */
export async function checkpointSteps(parent: string): Promise<number[]> {
  const names = await fs.readdir(parent).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return [];
    throw error;
  });
  return names
    .map((name) => Number(/^global_step_(\d+)$/.exec(name)?.[1] ?? NaN))
    .filter(Number.isInteger)
    .sort((a, b) => a - b);
}

function filesOf(state: LearnerState): Map<string, Uint8Array> {
  const tensors = new Map<string, Map<string, Tensor>>();
  for (const [name, tensor] of state) {
    const prefix = Object.keys(MODELS).find((key) => name.startsWith(key)) ?? "";
    const file = MODELS[prefix] ?? OPTIMIZER;
    const inFile = tensors.get(file) ?? new Map<string, Tensor>();
    tensors.set(file, inFile.set(name.slice(prefix.length), tensor));
  }
  return new Map([...tensors].map(([file, inFile]) => [
    file,
    encodeSafetensors(inFile, { format: "pt" }), // transformers loads files of this mark
  ]));
}

/** A Qwen3 `config.json` as transformers reads it. */
function configJson(config: ModelConfig): string {
  const whole = {
    architectures: ["Qwen3ForCausalLM"],
    model_type: "qwen3",
    hidden_act: "silu",
    attention_bias: false,
    torch_dtype: "float32",
    ...config,
  };
  return JSON.stringify(whole, null, 2) + "\n";
}

function parseManifest(dir: string, bytes: Uint8Array): Manifest {
  try {
    const manifest = JSON.parse(new TextDecoder().decode(bytes)) as Manifest;
    if (manifest.version === 1 && typeof manifest.files === "object") return manifest;
  } catch {
    // told below
  }
  throw damaged(dir, MANIFEST, "it is not a manifest of this version");
}

async function readFile(dir: string, name: string): Promise<Uint8Array> {
  return await fs.readFile(join(dir, name)).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT" || error.code === "ENOTDIR") {
      throw damaged(dir, name, "the file is missing");
    }
    throw error;
  });
}

function damaged(dir: string, name: string, state: string): DamagedArtifactError {
  return new DamagedArtifactError(
    `Cannot load the checkpoint in ${dir}: ${name} is damaged, ${state}; use an earlier checkpoint`,
  );
}

function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

async function writeSynced(path: string, bytes: Uint8Array): Promise<void> {
  await fs.mkdir(dirname(path), { recursive: true });
  const file = await fs.open(path, "w");
  try {
    await file.writeFile(bytes);
    await file.sync();
  } finally {
    await file.close();
  }
}

async function sync(folder: string): Promise<void> {
  const handle = await fs.open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function remove(path: string): Promise<void> {
  await fs.rm(path, { recursive: true, force: true });
}
