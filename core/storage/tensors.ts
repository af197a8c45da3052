import { createHash } from "node:crypto";
import { DamagedArtifactError } from "../errors.ts";

/** A named array: fp32 data in row-major order. */
export interface Tensor {
  readonly shape: readonly number[];
  readonly data: Float32Array;
}

/** What a safetensors file holds. */
export interface SafetensorsFile {
  readonly tensors: Map<string, Tensor>;
  readonly metadata: Readonly<Record<string, string>>;
}

/** Name of the header's entry for free text, which no tensor may have. */
const METADATA = "__metadata__";

/**
 * One safetensors file (Hugging Face): F32 tensors sorted by name, bit by bit, the header padded with
 * blanks to 8 bytes. Equal maps give equal bytes. Throws RangeError when a shape does not fit its data.
 */
export function encodeSafetensors(
  tensors: ReadonlyMap<string, Tensor>,
  metadata: Readonly<Record<string, string>> = {},
): Uint8Array<ArrayBuffer> {
  const sorted = sortByName(tensors);
  const header: Record<string, unknown> = {};
  const keys = Object.keys(metadata).sort();
  if (keys.length > 0) {
    header[METADATA] = Object.fromEntries(keys.map((key) => [key, metadata[key]]));
  }
  let end = 0;
  for (const [name, { shape, data }] of sorted) {
    if (name === METADATA || sizeOf(shape) !== data.length) {
      throw new RangeError(
        `Cannot encode tensor "${name}": shape [${shape}] does not hold ${data.length} numbers`,
      );
    }
    header[name] = { dtype: "F32", shape, data_offsets: [end, end += data.byteLength] };
  }
  const text = new TextEncoder().encode(JSON.stringify(header));
  const start = 8 + Math.ceil(text.length / 8) * 8;
  const bytes = new Uint8Array(start + end).fill(0x20, 8, start);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(start - 8), true);
  bytes.set(text, 8);
  let at = start;
  for (const [, { data }] of sorted) {
    bytes.set(bytesOf(data), at);
    at += data.byteLength;
  }
  return bytes;
}

/**
 * Reads a safetensors file whose tensors are F32; the data is copied. Throws DamagedArtifactError on
 * anything else: the tensors must fill the file without gaps or overlaps.
 */
export function decodeSafetensors(bytes: Uint8Array): SafetensorsFile {
  if (bytes.length < 8) throw damaged(`it has ${bytes.length} bytes, fewer than a header needs`);
  const declared = new DataView(bytes.buffer, bytes.byteOffset, 8).getBigUint64(0, true);
  if (declared > BigInt(bytes.length - 8)) {
    throw damaged(`its header of ${declared} bytes is longer than the file; it may be cut off`);
  }
  const start = 8 + Number(declared);
  const { [METADATA]: metadata, ...entries } = parseHeader(bytes.subarray(8, start));
  const found = Object.entries(entries).map(([name, entry]) => parseEntry(name, entry));
  const tensors = new Map<string, Tensor>();
  let end = 0;
  for (const { name, shape, from, to } of found.sort((a, b) => a.from - b.from || a.to - b.to)) {
    if (from !== end) throw damaged(`tensor "${name}" starts at byte ${from}, not at ${end}`);
    if (start + to > bytes.length) throw damaged(`tensor "${name}" ends after the file`);
    const data = new Float32Array(sizeOf(shape));
    bytesOf(data).set(bytes.subarray(start + from, start + to));
    tensors.set(name, { shape, data });
    end = to;
  }
  if (start + end !== bytes.length) {
    throw damaged(`its tensors take ${end} bytes of ${bytes.length - start}`);
  }
  return { tensors, metadata: parseMetadata(metadata ?? {}) };
}

/** SHA-256, lower-case hex, over the tensors sorted by name: name, shape and data bits of each. */
export function tensorsDigest(tensors: ReadonlyMap<string, Tensor>): string {
  const hash = createHash("sha256");
  for (const [name, { shape, data }] of sortByName(tensors)) {
    hash.update(JSON.stringify([name, shape]) + "\n");
    hash.update(bytesOf(data));
  }
  return hash.digest("hex");
}

function sizeOf(shape: readonly number[]): number {
  return shape.reduce((size, axis) => size * axis, 1);
}

function sortByName(tensors: ReadonlyMap<string, Tensor>): [string, Tensor][] {
  return [...tensors].sort(([a], [b]) => (a < b ? -1 : 1));
}

/** Every platform the engine runs on is little-endian, as the format is. */
function bytesOf(data: Float32Array): Uint8Array {
  return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
}

function damaged(state: string, options?: ErrorOptions): DamagedArtifactError {
  return new DamagedArtifactError(`Cannot read safetensors: ${state}`, options);
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function parseHeader(bytes: Uint8Array): Readonly<Record<string, unknown>> {
  let header: unknown;
  try {
    header = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch (cause) {
    throw damaged("its header is not JSON", { cause });
  }
  if (isObject(header)) return header;
  throw damaged("its header is not an object");
}

function parseMetadata(metadata: unknown): Readonly<Record<string, string>> {
  if (!isObject(metadata)) throw damaged("its metadata is not an object");
  const texts: Record<string, string> = {};
  for (const [key, value] of Object.entries(metadata)) {
    if (typeof value !== "string") throw damaged(`its metadata "${key}" is not a text`);
    texts[key] = value;
  }
  return texts;
}

function parseEntry(
  name: string,
  entry: unknown,
): { name: string; shape: readonly number[]; from: number; to: number } {
  if (!isObject(entry)) throw damaged(`the entry of "${name}" is not an object`);
  const { dtype, shape, data_offsets: offsets } = entry;
  if (dtype !== "F32") throw damaged(`tensor "${name}" has type "${dtype}", not F32`);
  if (!isSizes(shape)) throw damaged(`tensor "${name}" has no shape`);
  if (!isSizes(offsets) || offsets.length !== 2) throw damaged(`tensor "${name}" has no offsets`);
  const [from, to] = offsets as [number, number];
  if (to - from !== 4 * sizeOf(shape)) {
    throw damaged(`tensor "${name}" of shape [${shape}] does not take ${to - from} bytes`);
  }
  return { name, shape, from, to };
}

function isSizes(value: unknown): value is readonly number[] {
  return Array.isArray(value) && value.every((item) => Number.isSafeInteger(item) && item >= 0);
}
