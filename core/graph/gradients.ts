import type { GraphBuilder } from "./builder.ts";
import type { Node, Op, Value } from "./model_proto.ts";

/** Gives each input's share of the output's gradient; null where nothing flows. */
type GradientRule = (g: GraphBuilder, node: Node, dy: Value) => readonly (Value | null)[];

const none: GradientRule = (_g, { inputs }) => inputs.map(() => null);

/** Reverse-mode rules, complete by type: a new op does not compile until it has one. */
const GRADIENTS: Record<Op, GradientRule> = {
  Add: (_g, _node, dy) => [dy, dy],
  Sub: (g, _node, dy) => [dy, g.neg(dy)],
  Mul: (g, { inputs }, dy) => [g.mul(dy, inputs[1]!), g.mul(dy, inputs[0]!)],
  // (a/b)' = da/b − y·db/b
  Div: (g, { inputs, output }, dy) => {
    const da = g.div(dy, inputs[1]!);
    return [da, g.neg(g.mul(da, output))];
  },
  Neg: (g, _node, dy) => [g.neg(dy)],
  Exp: (g, { output }, dy) => [g.mul(dy, output)],
  Log: (g, { inputs }, dy) => [g.div(dy, inputs[0]!)],
  // (√x)' = 1 / 2√x
  Sqrt: (g, { output }, dy) => [g.div(g.mul(dy, g.scalar(0.5)), output)],
  // σ' = σ(1 − σ)
  Sigmoid: (g, { output }, dy) => [
    g.mul(dy, g.mul(output, g.sub(g.scalar(1), output))),
  ],
  // ties go to the first input
  Min: (g, { inputs }, dy) => chosen(g, g.greater(inputs[0]!, inputs[1]!), dy, "second"),
  Max: (g, { inputs }, dy) => chosen(g, g.less(inputs[0]!, inputs[1]!), dy, "second"),
  Where: (g, { inputs }, dy) => [null, ...chosen(g, inputs[0]!, dy, "first")],
  Less: none,
  Greater: none,
  Cast: none,
  // (AB)' = dY·Bᵀ, Aᵀ·dY
  MatMul: (g, { inputs }, dy) => [
    g.matmul(dy, swapLast(g, inputs[1]!)),
    g.matmul(swapLast(g, inputs[0]!), dy),
  ],
  Transpose: (g, { attributes }, dy) => {
    const perm = attributes["perm"] as readonly number[];
    return [g.transpose(dy, perm.map((_, i) => perm.indexOf(i)))];
  },
  Reshape: (g, { inputs }, dy) => [g.reshape(dy, inputs[0]!.shape), null],
  Concat: (g, { inputs, attributes }, dy) => {
    const axis = attributes["axis"] as number;
    let from = 0;
    return inputs.map((input) => {
      const start = from;
      from += input.shape[axis]!;
      return g.slice(dy, axis, start, from);
    });
  },
  Slice: (g, { inputs, attributes }, dy) => {
    const axis = attributes["#axis"] as number;
    const shape = inputs[0]!.shape;
    const zeros = (n: number) =>
      n === 0 ? [] : [g.expand(g.scalar(0), shape.map((m, i) => i === axis ? n : m))];
    const before = zeros(attributes["#start"] as number);
    const after = zeros(shape[axis]! - (attributes["#end"] as number));
    return [g.concat([...before, dy, ...after], axis), null, null, null];
  },
  // rows may repeat: their gradients add up
  Gather: (g, { inputs }, dy) => {
    const [table, indices] = [inputs[0]!, inputs[1]!];
    const rows = indices.shape.reduce((n, m) => n * m, 1);
    const rest = table.shape.slice(1);
    const flat = g.reshape(dy, [rows, ...rest]);
    const column = g.reshape(indices, [rows, ...rest.map(() => 1)]);
    const at = g.expand(column, [rows, ...rest]);
    const zero = g.expand(g.scalar(0), table.shape);
    return [g.scatterElements(zero, at, flat, 0, "add"), null];
  },
  GatherElements: (g, { inputs, attributes }, dy) => {
    const zero = g.expand(g.scalar(0), inputs[0]!.shape);
    return [g.scatterElements(zero, inputs[1]!, dy, attributes["axis"] as number, "add"), null];
  },
  ScatterElements: (g, { inputs, attributes }, dy) => {
    const axis = attributes["axis"] as number;
    const updates = g.gatherElements(dy, inputs[1]!, axis);
    if (attributes["reduction"] === "add") return [dy, null, updates];
    const zeros = g.expand(g.scalar(0), inputs[2]!.shape);
    return [g.scatterElements(dy, inputs[1]!, zeros, axis, "none"), null, updates];
  },
  ReduceSum: (g, node, dy) => [spread(g, node, dy), null],
  // dx = y·(dy − Σ y·dy)
  Softmax: (g, { output, attributes }, dy) => {
    const inner = g.reduceSum(g.mul(dy, output), [attributes["axis"] as number], true);
    return [g.mul(output, g.sub(dy, inner))];
  },
  // dx = dy − softmax·Σ dy
  LogSoftmax: (g, { output, attributes }, dy) => {
    const total = g.reduceSum(dy, [attributes["axis"] as number], true);
    return [g.sub(dy, g.mul(g.exp(output), total))];
  },
  Expand: (_g, _node, dy) => [dy, null],
  StopGradient: none,
};

/**
 * Adds to the graph the gradient of a scalar `loss` with respect to each of `wrt`; one the loss does not
 * depend on gets zeros. Throws RangeError when the loss is not a scalar.
 */
export function gradients(g: GraphBuilder, loss: Value, wrt: readonly Value[]): Value[] {
  if (loss.shape.length !== 0) {
    throw new RangeError(
      `Cannot differentiate a loss of shape [${loss.shape}]: it must be a scalar`,
    );
  }
  const nodes = [...g.nodes];
  const needed = new Set(wrt.map((value) => value.name));
  for (const node of nodes) {
    if (node.op !== "StopGradient" && node.inputs.some((input) => needed.has(input.name))) {
      needed.add(node.output.name);
    }
  }
  const flowing = new Map<string, Value>([[loss.name, g.scalar(1)]]);
  for (const node of nodes.reverse()) {
    const dy = flowing.get(node.output.name);
    if (dy === undefined || !needed.has(node.output.name)) continue;
    const shares = GRADIENTS[node.op](g, node, dy);
    node.inputs.forEach((input, i) => {
      const share = shares[i];
      if (!share || !needed.has(input.name)) return;
      const fitted = sumTo(g, share, input.shape);
      const before = flowing.get(input.name);
      flowing.set(input.name, before === undefined ? fitted : g.add(before, fitted));
    });
  }
  return wrt.map((value) => flowing.get(value.name) ?? g.expand(g.scalar(0), value.shape));
}

/** Undoes a broadcast: sums the axes that were stretched. */
function sumTo(g: GraphBuilder, x: Value, shape: readonly number[]): Value {
  const lead = x.shape.length - shape.length;
  const axes = x.shape.flatMap((n, i) => i < lead || shape[i - lead] !== n ? [i] : []);
  return axes.length === 0 ? x : g.reshape(g.reduceSum(x, axes), shape);
}

/** dy where an input was chosen, 0 elsewhere; `which` input the condition chooses. */
function chosen(g: GraphBuilder, condition: Value, dy: Value, which: "first" | "second"): Value[] {
  const zero = g.scalar(0);
  const yes = g.where(condition, dy, zero);
  const no = g.where(condition, zero, dy);
  return which === "first" ? [yes, no] : [no, yes];
}

function swapLast(g: GraphBuilder, x: Value): Value {
  const axes = x.shape.map((_, i) => i);
  const n = axes.length;
  return g.transpose(x, [...axes.slice(0, n - 2), n - 1, n - 2]);
}

/** A reduced value stretched back over the axes it was reduced along. */
function spread(g: GraphBuilder, { inputs, attributes }: Node, value: Value): Value {
  const shape = inputs[0]!.shape;
  const axes = attributes["#axes"] as readonly number[];
  const kept = shape.map((n, i) => axes.includes(i) ? 1 : n);
  return g.expand(g.reshape(value, kept), shape);
}
