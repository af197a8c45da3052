import { createHash } from "node:crypto";
import { DamagedArtifactError } from "../errors.ts";

/** A named array: fp32 data in row-major order. */
export interface Tensor {
  readonly shape: readonly number[];
  readonly data: Float32Array;
}

/**
 * A safetensors file (Hugging Face) of fp32 tensors, names sorted, data aligned to 8 bytes; equal maps
 * give equal bytes.
 */
export function encodeSafetensors(
  tensors: ReadonlyMap<string, Tensor>,
  metadata: Readonly<Record<string, string>> = {},
): Uint8Array {
  const header: Record<string, unknown> = { __metadata__: metadata };
  let offset = 0;
  const sorted = sortedEntries(tensors);
  for (const [name, { shape, data }] of sorted) {
    header[name] = { dtype: "F32", shape, data_offsets: [offset, offset + data.byteLength] };
    offset += data.byteLength;
  }
  const text = new TextEncoder().encode(JSON.stringify(header));
  const start = 8 + Math.ceil(text.length / 8) * 8;
  const bytes = new Uint8Array(start + offset).fill(0x20, 8, start); // the header is padded with spaces
  new DataView(bytes.buffer).setBigUint64(0, BigInt(start - 8), true);
  bytes.set(text, 8);
  let at = start;
  for (const [, { data }] of sorted) {
    bytes.set(new Uint8Array(data.buffer, data.byteOffset, data.byteLength), at);
    at += data.byteLength;
  }
  return bytes;
}

/** The tensors of a safetensors file; throws DamagedArtifactError unless it is whole and fp32. */
export function decodeSafetensors(
  bytes: Uint8Array,
): { tensors: Map<string, Tensor>; metadata: Record<string, string> } {
  const header = readHeader(bytes);
  const { __metadata__: metadata = {}, ...entries } = header.json as Record<string, Entry> & {
    __metadata__?: Record<string, string>;
  };
  const tensors = new Map<string, Tensor>();
  for (const [name, { dtype, shape, data_offsets }] of Object.entries(entries)) {
    const [from, to] = data_offsets ?? [0, -1];
    const size = shape?.reduce((product, n) => product * n, 4);
    if (dtype !== "F32" || to - from !== size || header.start + to > bytes.length || from < 0) {
      throw damaged(`tensor "${name}" is ${dtype} [${shape}] at [${data_offsets}]`);
    }
    // a copy, so that it is aligned and a Buffer's pool is left alone
    const data = new Uint8Array(bytes.subarray(header.start + from, header.start + to));
    tensors.set(name, { shape, data: new Float32Array(data.buffer) });
  }
  return { tensors, metadata };
}

/** SHA-256 over the sorted tensors: name, shape, data; lower-case hex. */
export function tensorsDigest(tensors: ReadonlyMap<string, Tensor>): string {
  const hash = createHash("sha256");
  for (const [name, { shape, data }] of sortedEntries(tensors)) {
    hash.update(`${name}\n${shape.join(",")}\n`);
    hash.update(new Uint8Array(data.buffer, data.byteOffset, data.byteLength));
  }
  return hash.digest("hex");
}

interface Entry {
  readonly dtype: string;
  readonly shape: readonly number[];
  readonly data_offsets: readonly [number, number];
}

function sortedEntries(tensors: ReadonlyMap<string, Tensor>): [string, Tensor][] {
  return [...tensors].sort(([a], [b]) => a < b ? -1 : 1);
}

function readHeader(bytes: Uint8Array): { json: unknown; start: number } {
  if (bytes.length < 8) throw damaged(`it has ${bytes.length} bytes`);
  const length = Number(new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(0, true));
  if (length > bytes.length - 8) {
    throw damaged(`its header claims ${length} bytes of ${bytes.length}`);
  }
  try {
    const text = new TextDecoder().decode(bytes.subarray(8, 8 + length));
    return { json: JSON.parse(text), start: 8 + length };
  } catch (cause) {
    throw damaged("its header is not JSON", { cause });
  }
}

function damaged(state: string, options?: ErrorOptions): DamagedArtifactError {
  return new DamagedArtifactError(`Cannot read safetensors: ${state}`, options);
}
