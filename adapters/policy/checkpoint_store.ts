import * as fs from "node:fs/promises";
import type { LearnerState } from "../../core/policy/engine.ts";
import { latestCheckpoint, saveCheckpoint } from "./checkpoint.ts";
