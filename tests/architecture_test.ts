/** The import table of the project as data: who may import whom. */

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, posix, relative } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const LARGEST_LINES = 300;

/** Files that may be longer, each with its reason. */
const LONG_FILES: Record<string, string> = {};

/** Rooms of `core/`, lowest first; a room imports values of earlier ones and its own. */
const ROOMS = [
  ..."plan data storage routing retrieval rollouts rewards graph policy algorithms".split(" "),
  ..."recorded world".split(" "),
];
/** Files of `core/` that serve every room and import none. */
const SHARED = ["core/errors.ts", "core/random.ts"];

interface Row {
  /** Folders and files whose values may be imported, beside the folder's own. */
  readonly values: readonly string[];
  /** Folders whose types may be imported as well. */
  readonly types: readonly string[];
  /** Packages and `node:` modules; null where any will do. */
  readonly packages: RegExp | null;
}

const EVERYTHING = ["configs", "core", "adapters", "activities", "workflows", "workers"];
const TABLE: Record<string, Row> = {
  // errors.ts, because a config that cannot run is an error of the engine like others.
  configs: { values: ["core/errors.ts"], types: [], packages: /^zod$/ },
  core: {
    values: [],
    types: ["configs"],
    packages: /^(onnx-proto|@huggingface\/tokenizers|zod|node:crypto)$/,
  },
  adapters: { values: ["core"], types: ["configs"], packages: null },
  activities: {
    values: ["core"],
    types: ["configs"],
    packages: /^(@temporalio\/activity|node:crypto|node:timers\/promises)$/,
  },
  workflows: {
    values: ["core/plan"],
    types: EVERYTHING,
    packages: /^@temporalio\/(workflow|common)$/,
  },
  workers: { values: EVERYTHING, types: EVERYTHING, packages: null },
  bench: { values: [...EVERYTHING, "tests/_support"], types: EVERYTHING, packages: null },
  tests: { values: [...EVERYTHING, "bench"], types: EVERYTHING, packages: null },
};

/** What `core/` may not touch: the world, clocks, timers, chance. */
const IMPURE =
  /\b(Deno\.|fetch\(|setTimeout\(|setInterval\(|Date\.now|new Date\(\)|performance\.|Math\.random|random(UUID|Bytes|Int)\()/;

interface Import {
  readonly from: string;
  readonly to: string;
  readonly typeOnly: boolean;
}

function sourceFiles(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = posix.join(folder, entry.name);
    if (entry.isDirectory()) return sourceFiles(path);
    return entry.name.endsWith(".ts") ? [path] : [];
  });
}

/** Source without comments; text in strings stays. */
function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\//g, "").replace(/(^|\s)\/\/.*$/gm, "");
}

/** Every static, re-exporting, bare and dynamic import of a file. */
function parseImports(file: string, text: string): Import[] {
  const pattern =
    /^(?:import|export)\s+(type\s)?((?:[\w$*\s,]|\{[^}]*\})+?)\s+from\s+"([^"]+)"|^import\s+"([^"]+)"|\bimport\("([^"]+)"\)/gm;
  return [...withoutComments(text).matchAll(pattern)].map((match) => {
    const [, type, names = "", source, bare, dynamic] = match;
    const target = source ?? bare ?? dynamic ?? "";
    const inner = /^\{([^}]*)\}$/.exec(names.trim())?.[1];
    const listed = inner?.split(",").map((name) => name.trim()).filter(Boolean) ?? [];
    const typeOnly = type !== undefined ||
      (listed.length > 0 && listed.every((name) => name.startsWith("type ")));
    const to = target.startsWith(".") ? posix.join(posix.dirname(file), target) : target;
    return { from: file, to, typeOnly };
  });
}

function isIn(places: readonly string[], path: string): boolean {
  return places.some((place) => path === place || path.startsWith(`${place}/`));
}

/** Why an import is not allowed; null when it is. */
function objection({ from, to, typeOnly }: Import): string | null {
  const folder = from.split("/")[0] ?? "";
  const row = TABLE[folder];
  if (!row) return `"${folder}" is not in the table`;
  const local = to.split("/")[0] ?? "";
  if (!(local in TABLE)) {
    return row.packages === null || row.packages.test(to) ? null : `${folder} may not use "${to}"`;
  }
  if (local !== folder) {
    if (isIn(row.values, to) || (typeOnly && isIn(row.types, to))) return null;
    return `${folder} may not import ${typeOnly ? "types" : "values"} of ${local}`;
  }
  return folder === "core" && !typeOnly ? roomObjection(from, to) : null;
}

function roomObjection(from: string, to: string): string | null {
  if (SHARED.includes(to)) return null;
  if (SHARED.includes(from)) return "what serves every room imports none";
  const [own, other] = [from, to].map((path) => ROOMS.indexOf(path.split("/")[1] ?? ""));
  if (own === undefined || other === undefined || own < 0 || other < 0) return "unknown room";
  return other <= own ? null : `room "${ROOMS[own]}" lies below room "${ROOMS[other]}"`;
}

/** A circle of value imports, or null. */
function findCircle(imports: readonly Import[]): string[] | null {
  const edges = Map.groupBy(imports.filter(({ typeOnly }) => !typeOnly), ({ from }) => from);
  const done = new Set<string>();
  const walk = (file: string, path: readonly string[]): string[] | null => {
    if (path.includes(file)) return [...path.slice(path.indexOf(file)), file];
    if (done.has(file)) return null;
    for (const { to } of edges.get(file) ?? []) {
      const circle = walk(to, [...path, file]);
      if (circle) return circle;
    }
    done.add(file);
    return null;
  };
  for (const file of edges.keys()) {
    const circle = walk(file, []);
    if (circle) return circle;
  }
  return null;
}

const present = readdirSync(ROOT).filter((name) => name in TABLE);
const texts = new Map(
  present.flatMap(sourceFiles).map((file) => [file, readFileSync(join(ROOT, file), "utf8")]),
);
const imports = [...texts].flatMap(([file, text]) => parseImports(file, text));

Deno.test("every import goes the way of the table", () => {
  const wrong = imports.flatMap((one) => {
    const reason = objection(one);
    return reason ? [`${one.from} -> ${one.to}: ${reason}`] : [];
  });
  assert.deepEqual(wrong, []);
});

Deno.test("no import goes round in a circle", () => {
  assert.equal(findCircle(imports)?.join(" -> ") ?? null, null);
});

Deno.test("core/ touches neither the world nor clocks nor chance", () => {
  const impure = [...texts].filter(([file, text]) =>
    file.startsWith("core/") && IMPURE.test(withoutComments(text))
  );
  assert.deepEqual(impure.map(([file]) => file), []);
});

Deno.test(`no file has more than ${LARGEST_LINES} lines without a reason`, () => {
  const long = [...texts].filter(([, text]) => text.trimEnd().split("\n").length > LARGEST_LINES);
  assert.deepEqual(long.map(([file]) => file).filter((file) => !(file in LONG_FILES)), []);
  for (const file of Object.keys(LONG_FILES)) {
    assert.ok(long.some(([name]) => name === file), `${relative(".", file)} needs no exception`);
  }
});

Deno.test("parseImports() sees every form of import and tells types from values", () => {
  const text = `import type { A } from "../data/a.ts";
import { type B, type C } from "./b.ts";
import { type D, d } from "./d.ts";
import e, { f } from "pkg";
import * as g from "node:path";
import "./bare.ts";
export { h } from "./h.ts";
export * from "./all.ts";
export type { I } from "./i.ts";
/* import { no } from "./comment.ts"; */
// import { no } from "./line.ts";
import {
  type J,
  k,
} from "./many.ts";
const l = await import("./late.ts");`;
  const found = parseImports("core/plan/x.ts", text).map(({ to, typeOnly }) => [to, typeOnly]);
  assert.deepEqual(found, [
    ["core/data/a.ts", true],
    ["core/plan/b.ts", true],
    ["core/plan/d.ts", false],
    ["pkg", false],
    ["node:path", false],
    ["core/plan/bare.ts", false],
    ["core/plan/h.ts", false],
    ["core/plan/all.ts", false],
    ["core/plan/i.ts", true],
    ["core/plan/many.ts", false],
    ["core/plan/late.ts", false],
  ]);
});

Deno.test("the table refuses what it should", () => {
  const verdict = (from: string, to: string, typeOnly = false) => objection({ from, to, typeOnly });
  assert.equal(verdict("core/policy/a.ts", "core/graph/b.ts"), null);
  assert.match(verdict("core/graph/a.ts", "core/policy/b.ts") ?? "", /lies below/);
  assert.equal(verdict("core/graph/a.ts", "core/policy/b.ts", true), null);
  assert.equal(verdict("core/graph/a.ts", "core/errors.ts"), null);
  assert.match(verdict("core/random.ts", "core/plan/a.ts") ?? "", /imports none/);
  assert.match(verdict("core/graph/a.ts", "configs/run.ts") ?? "", /values of configs/);
  assert.match(verdict("core/graph/a.ts", "node:fs") ?? "", /may not use/);
  assert.match(verdict("workflows/a.ts", "core/data/b.ts") ?? "", /values of core/);
  assert.equal(verdict("workflows/a.ts", "core/plan/b.ts"), null);
  assert.equal(verdict("workflows/a.ts", "activities/b.ts", true), null);
  assert.match(verdict("activities/a.ts", "adapters/b.ts") ?? "", /values of adapters/);
  assert.match(verdict("adapters/a.ts", "workers/b.ts", true) ?? "", /types of workers/);
  const circle = [["a", "b"], ["b", "c"], ["c", "b"]].map(([from = "", to = ""]) => ({
    from,
    to,
    typeOnly: false,
  }));
  assert.deepEqual(findCircle(circle), ["b", "c", "b"]);
});
