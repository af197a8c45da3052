import { join } from "node:path";
import type { Ports } from "../activities/ports.ts";
import { createCheckpointStore } from "../adapters/storage/checkpoint_store.ts";
import { createArtifactStore } from "../adapters/storage/artifact_store.ts";
import { createJournal } from "../adapters/storage/journal.ts";
import { createLedger } from "../adapters/storage/ledger.ts";
import { createEngineSource } from "./_engine_source.ts";
import { createRunConfigs } from "./_run_configs.ts";
import { createRunStore } from "./_run_store.ts";
import { registerWorldAt } from "./_worlds.ts";

/** Everything activities are given, on one state folder. */
export function createPorts(
  { stateDir, worldUrl, searchAttributes }: {
    readonly stateDir: string;
    readonly worldUrl: string;
    readonly searchAttributes: boolean;
  },
): Ports {
  const configs = createRunConfigs(stateDir);
  return {
    runs: createRunStore(configs, { registerWorld: registerWorldAt(worldUrl) }),
    artifacts: createArtifactStore(join(stateDir, "artifacts")),
    journal: createJournal(join(stateDir, "runs")),
    ledger: createLedger(join(stateDir, "ledger.db")),
    checkpoints: createCheckpointStore(configs.folder.path),
    engines: createEngineSource(),
    searchAttributes,
  };
}
