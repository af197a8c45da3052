import assert from "node:assert/strict";
import { canonicalJson } from "../../../core/storage/canonical_json.ts";

Deno.test("canonicalJson() writes equal values alike, whatever the order of their keys", () => {
  const text = '{"a":[1,null,{"x":"é\\n"}],"b":true}';
  assert.equal(canonicalJson({ b: true, a: [1, undefined, { x: "é\n", y: undefined }] }), text);
  assert.equal(canonicalJson(JSON.parse(text)), text);
  assert.equal(canonicalJson({ "10": 1, "9": 2 }), '{"10":1,"9":2}');
});

Deno.test("canonicalJson() refuses what JSON cannot hold", () => {
  const loop: { self?: unknown } = {};
  loop.self = loop;
  for (const value of [NaN, { a: Infinity }, [() => 1], loop, new Map(), undefined]) {
    assert.throws(() => canonicalJson(value), TypeError);
  }
});
