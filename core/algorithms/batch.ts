import type { LearnRow } from "../policy/mod.ts";
import { decodeSafetensors, encodeSafetensors, type Tensor } from "../storage/mod.ts";

/** What a step learns from, with the numbers its rollouts gave. */
export interface StepBatch {
  readonly rows: readonly LearnRow[];
  readonly metrics: Readonly<Record<string, number>>;
}

const vector = (data: readonly number[]): Tensor => ({
  shape: [data.length],
  data: Float32Array.from(data),
});

/**
 * Rows as one safetensors file: `row_lengths` [N], and for each named array its rows end to end.
 * Token ids are whole numbers below 2^24, exact in fp32. Metrics ride in the metadata.
 */
export function encodeBatch(batch: StepBatch): Uint8Array {
  const names = [...new Set(batch.rows.flatMap((row) => Object.keys(row.arrays)))].sort();
  const tensors = new Map<string, Tensor>([
    ["row_lengths", vector(batch.rows.map((row) => row.tokenIds.length))],
    ["token_ids", vector(batch.rows.flatMap((row) => row.tokenIds))],
    ["response_mask", vector(batch.rows.flatMap((row) => row.responseMask))],
  ]);
  for (const name of names) {
    tensors.set(`arrays/${name}`, vector(batch.rows.flatMap((row) => row.arrays[name]!)));
  }
  return encodeSafetensors(tensors, { metrics: JSON.stringify(batch.metrics) });
}

/** The batch `encodeBatch` wrote; throws DamagedArtifactError on other bytes. */
export function decodeBatch(bytes: Uint8Array): StepBatch {
  const { tensors, metadata } = decodeSafetensors(bytes);
  const column = (name: string) => tensors.get(name)?.data ?? new Float32Array(0);
  const names = [...tensors.keys()].filter((name) => name.startsWith("arrays/"));
  const rows: LearnRow[] = [];
  let from = 0;
  for (const length of column("row_lengths")) {
    const cut = (name: string) => Array.from(column(name).subarray(from, from + length));
    rows.push({
      tokenIds: cut("token_ids"),
      responseMask: cut("response_mask"),
      arrays: Object.fromEntries(names.map((name) => [name.slice("arrays/".length), cut(name)])),
    });
    from += length;
  }
  return { rows, metrics: JSON.parse(metadata["metrics"] ?? "{}") };
}
