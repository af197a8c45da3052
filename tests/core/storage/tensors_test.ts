import assert from "node:assert/strict";
import { DamagedArtifactError } from "../../../core/errors.ts";
import {
  decodeSafetensors,
  encodeSafetensors,
  type Tensor,
  tensorsDigest,
} from "../../../core/storage/mod.ts";

const SMALL = new Map<string, Tensor>([
  ["b", { shape: [3], data: Float32Array.of(1, -0, Infinity) }],
  ["a.weight", { shape: [2, 1], data: Float32Array.of(0.5, -2.25) }],
]);

/** A header with blanks up to a multiple of 8, after its length, before `data`. */
function file(header: string, data: readonly number[] = []): Uint8Array {
  const text = header.padEnd(Math.ceil(header.length / 8) * 8);
  return Uint8Array.from([text.length, 0, 0, 0, 0, 0, 0, 0, ...Buffer.from(text), ...data]);
}

Deno.test("encodeSafetensors() writes the bytes Python's safetensors reads", () => {
  const header = '{"__metadata__":{"format":"pt"},' +
    '"a.weight":{"dtype":"F32","shape":[2,1],"data_offsets":[0,8]},' +
    '"b":{"dtype":"F32","shape":[3],"data_offsets":[8,20]}}';
  const numbers = "0000003f000010c0" + "0000803f000000800000807f";
  const expected = file(header, [...Buffer.from(numbers, "hex")]);
  assert.deepEqual([...encodeSafetensors(SMALL, { format: "pt" })], [...expected]);
});

Deno.test("decodeSafetensors() gives back every bit, in any order of the file", () => {
  const nan = new Float32Array(new Uint8Array([1, 0, 0xc0, 0x7f]).buffer);
  const tensors = new Map([...SMALL, ["empty", { shape: [0, 4], data: new Float32Array() }]]);
  tensors.set("nan", { shape: [], data: nan });
  const decoded = decodeSafetensors(encodeSafetensors(tensors, { note: "ä" }));
  assert.deepEqual(decoded.metadata, { note: "ä" });
  assert.deepEqual([...decoded.tensors.keys()].sort(), ["a.weight", "b", "empty", "nan"]);
  for (const [name, { shape, data }] of tensors) {
    const found = decoded.tensors.get(name)!;
    assert.deepEqual(found.shape, shape);
    assert.deepEqual(new Uint8Array(found.data.buffer), new Uint8Array(data.slice().buffer));
  }
});

Deno.test("decodeSafetensors() names what is wrong with a damaged file", () => {
  const entry = (shape: string, offsets: string, dtype = "F32") =>
    `{"x":{"dtype":"${dtype}","shape":${shape},"data_offsets":${offsets}}}`;
  const whole = encodeSafetensors(SMALL);
  const cases: [Uint8Array, RegExp][] = [
    [new Uint8Array(7), /7 bytes/],
    [whole.subarray(0, 20), /longer than the file/],
    [whole.subarray(0, -1), /ends after the file/],
    [file(entry("[1]", "[0,4]"), [0, 0, 0, 0, 0]), /take 4 bytes of 5/],
    [file("{no}"), /not JSON/],
    [file("[]"), /not an object/],
    [file('{"x":1}'), /entry of "x"/],
    [file(entry("[2]", "[0,4]"), [0, 0, 0, 0]), /\[2\] does not take 4 bytes/],
    [file(entry("[1]", "[4,8]"), Array(8).fill(0)), /starts at byte 4/],
    [file(entry("[-1]", "[0,4]"), [0, 0, 0, 0]), /no shape/],
    [file(entry("[1]", "[0]"), [0, 0, 0, 0]), /no offsets/],
    [file(entry("[2]", "[0,4]", "BF16"), [0, 0, 0, 0]), /type "BF16"/],
    [file('{"__metadata__":{"a":1}}'), /metadata "a"/],
  ];
  for (const [bytes, message] of cases) {
    assert.throws(() => decodeSafetensors(bytes), (error) => {
      assert.ok(error instanceof DamagedArtifactError);
      assert.match(error.message, message);
      return true;
    });
  }
});

Deno.test("encodeSafetensors() refuses a shape that does not fit its data", () => {
  const wrong = new Map([["w", { shape: [2, 2], data: new Float32Array(3) }]]);
  assert.throws(() => encodeSafetensors(wrong), /"w": shape \[2,2\] does not hold 3 numbers/);
});

Deno.test("tensorsDigest() depends on names, shapes and bits, not on order", () => {
  const one = (name: string, shape: number[], ...data: number[]) =>
    tensorsDigest(new Map([[name, { shape, data: Float32Array.from(data) }]]));
  const digest = one("w", [2], 0, 1);
  assert.match(digest, /^[0-9a-f]{64}$/);
  assert.equal(new Set([digest, one("v", [2], 0, 1), one("w", [1, 2], 0, 1)]).size, 3);
  assert.notEqual(digest, one("w", [2], -0, 1));
  assert.equal(tensorsDigest(new Map([...SMALL].reverse())), tensorsDigest(SMALL));
});
