import assert from "node:assert/strict";
import { gradients, GraphBuilder, type Op, type Value } from "../../../core/graph/mod.ts";
import { createRandom } from "../../../core/random.ts";
import { type Fed, openGraph, runGraph } from "../../_support/onnx.ts";

/** How one op is put to the test: its inputs and the value it makes of them. */
interface Case {
  readonly shapes: Readonly<Record<string, readonly number[]>>;
  readonly build: (g: GraphBuilder, x: Readonly<Record<string, Value>>) => Value;
  /** Inputs are drawn around this, away from kinks and poles. */
  readonly centre?: number;
}

const indices = (g: GraphBuilder, data: number[], shape: number[]) =>
  g.constant(data, shape, "int64");

/** A case or more for every op, complete by type; null for those whose gradient is nothing. */
const CASES: Record<Op, readonly Case[] | null> = {
  Add: [{ shapes: { a: [2, 3], b: [3] }, build: (g, { a, b }) => g.add(a!, b!) }],
  Sub: [{ shapes: { a: [2, 1], b: [2, 3] }, build: (g, { a, b }) => g.sub(a!, b!) }],
  Mul: [
    { shapes: { a: [2, 3], b: [1, 3] }, build: (g, { a, b }) => g.mul(a!, b!) },
    { shapes: { a: [2, 3] }, build: (g, { a }) => g.mul(a!, a!) },
  ],
  Div: [{ shapes: { a: [2, 3], b: [3] }, build: (g, { a, b }) => g.div(a!, b!), centre: 3 }],
  Neg: [{ shapes: { a: [4] }, build: (g, { a }) => g.neg(a!) }],
  Exp: [{ shapes: { a: [4] }, build: (g, { a }) => g.exp(a!) }],
  Log: [{ shapes: { a: [4] }, build: (g, { a }) => g.log(a!), centre: 3 }],
  Sqrt: [{ shapes: { a: [4] }, build: (g, { a }) => g.sqrt(a!), centre: 3 }],
  Sigmoid: [{ shapes: { a: [4] }, build: (g, { a }) => g.sigmoid(a!) }],
  Min: [{ shapes: { a: [2, 4], b: [4] }, build: (g, { a, b }) => g.min(a!, b!) }],
  Max: [{ shapes: { a: [2, 4], b: [4] }, build: (g, { a, b }) => g.max(a!, b!) }],
  Where: [{
    shapes: { a: [2, 3], b: [3], c: [2, 3] },
    build: (g, { a, b, c }) => g.where(g.greater(c!, g.scalar(0)), a!, b!),
  }],
  Less: null,
  Greater: null,
  Cast: null,
  MatMul: [
    { shapes: { a: [2, 3], b: [3, 4] }, build: (g, { a, b }) => g.matmul(a!, b!) },
    { shapes: { a: [2, 3, 2], b: [2, 4] }, build: (g, { a, b }) => g.matmul(a!, b!) },
    { shapes: { a: [2, 1, 2, 3], b: [3, 3, 2] }, build: (g, { a, b }) => g.matmul(a!, b!) },
  ],
  Transpose: [{ shapes: { a: [2, 3, 4] }, build: (g, { a }) => g.transpose(a!, [2, 0, 1]) }],
  Reshape: [{ shapes: { a: [2, 3] }, build: (g, { a }) => g.reshape(a!, [3, 2]) }],
  Concat: [{ shapes: { a: [2, 1], b: [2, 3] }, build: (g, { a, b }) => g.concat([a!, b!], 1) }],
  Slice: [
    { shapes: { a: [2, 5] }, build: (g, { a }) => g.slice(a!, 1, 1, 3) },
    { shapes: { a: [4, 2] }, build: (g, { a }) => g.slice(a!, 0, 0, 2) },
  ],
  // index 1 is read three times: its gradients add up
  Gather: [{
    shapes: { a: [3, 2] },
    build: (g, { a }) => g.gather(a!, indices(g, [1, 0, 1, 1], [2, 2])),
  }],
  GatherElements: [{
    shapes: { a: [2, 3] },
    build: (g, { a }) => g.gatherElements(a!, indices(g, [0, 2, 2, 2], [2, 2]), 1),
  }],
  ScatterElements: [
    {
      shapes: { a: [3, 2], b: [4, 2] },
      build: (g, { a, b }) =>
        g.scatterElements(a!, indices(g, [0, 0, 1, 2, 1, 0, 1, 1], [4, 2]), b!, 0, "add"),
    },
    {
      shapes: { a: [3, 2], b: [1, 2] },
      build: (g, { a, b }) => g.scatterElements(a!, indices(g, [0, 2], [1, 2]), b!, 0, "none"),
    },
  ],
  ReduceSum: [
    { shapes: { a: [2, 3, 2] }, build: (g, { a }) => g.reduceSum(a!, [0, 2]) },
    { shapes: { a: [2, 3] }, build: (g, { a }) => g.reduceSum(a!, [1], true) },
  ],
  Softmax: [{ shapes: { a: [2, 4] }, build: (g, { a }) => g.softmax(a!, 1) }],
  LogSoftmax: [{ shapes: { a: [2, 4] }, build: (g, { a }) => g.logSoftmax(a!, 1) }],
  Expand: [{ shapes: { a: [2, 1] }, build: (g, { a }) => g.expand(a!, [3, 2, 4]) }],
  StopGradient: null,
};

/** Half the distance of the two points of a central difference; fp32 wants it large. */
const STEP = 1e-2;

for (const [op, cases] of Object.entries(CASES)) {
  cases?.forEach((one, i) => {
    const name = cases.length === 1 ? op : `${op} (${i + 1})`;
    Deno.test(`gradients() of ${name} agrees with central differences`, () => checkCase(one));
  });
}

async function checkCase({ shapes, build, centre = 0 }: Case): Promise<void> {
  const g = new GraphBuilder("case");
  const inputs = Object.fromEntries(
    Object.entries(shapes).map(([name, shape]) => [name, g.input(name, shape)]),
  );
  const y = build(g, inputs);
  const random = createRandom(11, Object.keys(shapes).length, y.shape.length);
  const weights = Array.from({ length: y.shape.reduce((a, b) => a * b, 1) }, () => random.normal());
  const weighted = g.mul(y, g.constant(weights, y.shape));
  const loss = g.reduceSum(weighted, y.shape.map((_, axis) => axis));
  const names = Object.keys(shapes);
  const grads = gradients(g, loss, Object.values(inputs));
  g.output(loss, "loss");
  names.forEach((name, i) => g.output(grads[i]!, `d${name}`));
  const model = g.build();

  const feeds: Record<string, Fed & { data: number[] }> = {};
  for (const name of names) {
    const shape = shapes[name]!;
    const size = shape.reduce((a, b) => a * b, 1);
    feeds[name] = { shape, data: Array.from({ length: size }, () => centre + random.normal()) };
  }
  await using graph = await openGraph(model);
  const exact = await graph.run(feeds);
  for (const name of names) {
    const { data } = feeds[name]!;
    for (let i = 0; i < data.length; i++) {
      const lossAt = async (shift: number) => {
        const moved = data.map((x, k) => k === i ? x + shift : x);
        return (await graph.run({ ...feeds, [name]: { ...feeds[name]!, data: moved } }))[
          "loss"
        ]![0]!;
      };
      const slope = (await lossAt(STEP) - await lossAt(-STEP)) / (2 * STEP);
      const got = exact[`d${name}`]![i]!;
      assert.ok(
        Math.abs(got - slope) <= 2e-3 * Math.max(1, Math.abs(slope)),
        `d${name}[${i}] is ${got}, the slope is ${slope}`,
      );
    }
  }
}

Deno.test("gradients() is exactly 0 behind stopGradient and where the loss does not look", async () => {
  const g = new GraphBuilder("stopped");
  const a = g.input("a", [2]);
  const b = g.input("b", [2]);
  const c = g.input("c", [2]);
  const loss = g.reduceSum(g.mul(g.stopGradient(g.mul(a, a)), b), [0]);
  const [da, db, dc] = gradients(g, loss, [a, b, c]);
  g.output(da!, "da");
  g.output(db!, "db");
  g.output(dc!, "dc");
  const two = { data: [2, 3], shape: [2] };
  const out = await runGraph(g.build(), { a: two, b: two, c: two });
  assert.deepEqual([...out["da"]!], [0, 0]);
  assert.deepEqual([...out["db"]!], [4, 9]);
  assert.deepEqual([...out["dc"]!], [0, 0]);
});

Deno.test("GraphBuilder names op and shapes when they do not fit", () => {
  const g = new GraphBuilder("wrong");
  const a = g.input("a", [2, 3]);
  const b = g.input("b", [4, 2]);
  assert.throws(() => g.matmul(a, b), /Cannot build MatMul: shapes are \[2,3\] and \[4,2\]/);
  assert.throws(() => g.add(a, b), /Cannot build Add: shapes are \[2,3\] and \[4,2\]/);
  assert.throws(() => g.reshape(a, [4]), /Cannot build Reshape/);
  assert.throws(() => g.expand(a, [1, 3]), /Cannot build Expand: shapes are \[2,3\] and \[1,3\]/);
  assert.throws(() => gradients(g, a, [a]), /it must be a scalar/);
});
