/**
 * Storage: the ports that keep bytes, results and money, and the text form digests are taken of.
 * @module
 */
export type { ArtifactRef, ArtifactStore, Journal } from "./artifacts.ts";
export { canonicalJson } from "./canonical_json.ts";
export type {
  Begun,
  BudgetLimits,
  CallIntent,
  CallLedger,
  CompletedCall,
  OpenAttempt,
  Spend,
  SpendLine,
} from "./ledger.ts";
export { sha256Hex } from "./sha256.ts";
export {
  decodeSafetensors,
  encodeSafetensors,
  type SafetensorsFile,
  type Tensor,
  tensorsDigest,
} from "./tensors.ts";
