import * as fs from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { DamagedArtifactError } from "../../core/errors.ts";
import type {
  CheckpointKind,
  CheckpointStore,
  LearnerState,
  ModelFiles,
} from "../../core/policy/mod.ts";
import {
  decodeSafetensors,
  encodeSafetensors,
  sha256Hex,
  type Tensor,
} from "../../core/storage/mod.ts";
import { listIfThere, readIfThere, writeDurably } from "./_files.ts";

/** Which file of a checkpoint holds which group of the learner's state. */
const FILES = {
  "actor/model.safetensors": ["actor"],
  "actor/optimizer.safetensors": ["exp_avg", "exp_avg_sq", "optimizer"],
  "reference/model.safetensors": ["reference"],
} as const;
const MANIFEST = "manifest.json";
/** By file name. */
const Manifest = z.record(z.string(), z.strictObject({ sha256: z.string(), bytes: z.int() }));
type Manifest = z.infer<typeof Manifest>;
const LATEST = "latest_checkpointed_iteration.txt";
const FOLDER = /^global_step_(\d+)$/;

/**
 * Folders `global_step_N/{actor,reference}` with Hugging Face files; `manifest.json`, the digests of all
 * others, is written last. `path` gives a run's place on disk.
 */
export function createCheckpointStore(
  path: (run: string, ...parts: readonly string[]) => string,
): CheckpointStore {
  const stepsOf = async (run: string, kind: CheckpointKind): Promise<number[]> => {
    const entries = await listIfThere(path(run, kind));
    const steps = entries.flatMap(({ name }) => FOLDER.exec(name)?.[1] ?? []).map(Number);
    return steps.sort((a, b) => b - a);
  };

  return {
    save: async (run, kind, step, state, files) => {
      const folder = path(run, kind, `global_step_${step}`);
      await fs.rm(folder, { recursive: true, force: true }); // a torn one, or the same bytes again
      const manifest: Manifest = {};
      for (const [name, bytes] of [...weightFiles(state), ...textFiles(files)]) {
        await writeDurably(join(folder, name), bytes);
        manifest[name] = { sha256: sha256Hex(bytes), bytes: bytes.length };
      }
      await writeDurably(join(folder, MANIFEST), encode(JSON.stringify(manifest, null, 2)));
      await writeDurably(path(run, kind, LATEST), encode(String(step)));
    },
    newest: async (run, kind, atMost) => {
      for (const step of await stepsOf(run, kind)) {
        if (step > atMost) continue;
        const state = await read(path(run, kind, `global_step_${step}`)).catch((error) => {
          if (error instanceof DamagedArtifactError) return null;
          throw error;
        });
        if (state !== null) return { step, state };
      }
      return null;
    },
    prune: async (run, kind, keep, spare) => {
      const old = (await stepsOf(run, kind)).slice(keep).filter((step) => !spare.includes(step));
      for (const step of old) {
        const folder = path(run, kind, `global_step_${step}`);
        await fs.rm(join(folder, MANIFEST), { force: true }); // incomplete first, then gone
        await fs.rm(folder, { recursive: true, force: true });
      }
    },
  };
}

/** A checkpoint's state; throws DamagedArtifactError unless every file is as the manifest says. */
async function read(folder: string): Promise<Map<string, Tensor>> {
  const load = async (name: string) => {
    const bytes = await readIfThere(join(folder, name));
    if (bytes !== null) return bytes;
    throw new DamagedArtifactError(`Cannot read checkpoint ${folder}: ${name} is missing`);
  };
  const manifest = parseManifest(folder, new TextDecoder().decode(await load(MANIFEST)));
  const state = new Map<string, Tensor>();
  for (const [name, { sha256: wanted }] of Object.entries(manifest)) {
    const bytes = await load(name);
    if (sha256Hex(bytes) !== wanted) {
      throw new DamagedArtifactError(`Cannot read checkpoint ${folder}: ${name} is damaged`);
    }
    const groups = FILES[name as keyof typeof FILES];
    if (groups === undefined) continue;
    const single = groups.length === 1 ? `${groups[0]}/` : "";
    for (const [key, tensor] of decodeSafetensors(bytes).tensors) state.set(single + key, tensor);
  }
  return state;
}

function parseManifest(folder: string, text: string): Manifest {
  try {
    return Manifest.parse(JSON.parse(text));
  } catch (cause) {
    const message = `Cannot read checkpoint ${folder}: ${MANIFEST} is torn`;
    throw new DamagedArtifactError(message, { cause });
  }
}

/** The state by file; a file of one group holds bare names, as Hugging Face's loaders want them. */
function weightFiles(state: LearnerState): [string, Uint8Array][] {
  return Object.entries(FILES).flatMap(([file, groups]) => {
    const tensors = new Map<string, Tensor>();
    for (const [name, tensor] of state) {
      const group = name.slice(0, name.indexOf("/"));
      if (!(groups as readonly string[]).includes(group)) continue;
      tensors.set(groups.length === 1 ? name.slice(group.length + 1) : name, tensor);
    }
    return tensors.size === 0 ? [] : [[file, encodeSafetensors(tensors, { format: "pt" })]];
  });
}

function textFiles(files: ModelFiles): [string, Uint8Array][] {
  return Object.entries(files).map(([name, text]) => [`actor/${name}`, encode(text)]);
}

const encode = (text: string) => new TextEncoder().encode(text);
