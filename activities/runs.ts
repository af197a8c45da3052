import { groupAdvantages } from "../core/algorithms/mod.ts";
import { encodeBatch } from "../core/algorithms/batch.ts";
import { isDue, planSlots, shardCount } from "../core/plan/mod.ts";
import { stepId } from "../core/plan/ids.ts";
import type {
  EvaluationReport,
  Player,
  RunPlan,
  ShardPlan,
  SpendReport,
} from "../core/plan/run.ts";
import { decodeTrajectories, type Trajectory } from "../core/rollouts/mod.ts";
import type { ArtifactRef } from "../core/storage/artifacts.ts";
import type { Spend } from "../core/storage/ledger.ts";
import { committedStep, costCoeAt } from "./_log.ts";
import { evaluationKey } from "./_shard.ts";
import { judge, type JudgedPlayer } from "./_judge.ts";
import { scoreRollouts } from "./_score.ts";
import { concludeRun } from "./_conclude.ts";
import type { Ports } from "./ports.ts";
import { startPulse } from "./pulse.ts";
