import onnxProto from "onnx-proto";

const { onnx } = onnxProto;

/** Element types of values. */
export type DType = "float32" | "int64" | "bool";

/** A typed array of static shape inside a graph. */
export interface Value {
  readonly name: string;
  readonly dtype: DType;
  readonly shape: readonly number[];
}

/** The operations a graph is made of, by their ONNX names; each has a gradient rule. */
export type Op =
  | "Add"
  | "Sub"
  | "Mul"
  | "Div"
  | "Neg"
  | "Exp"
  | "Log"
  | "Sqrt"
  | "Sigmoid"
  | "Min"
  | "Max"
  | "Where"
  | "Less"
  | "Greater"
  | "Cast"
  | "MatMul"
  | "Transpose"
  | "Reshape"
  | "Concat"
  | "Slice"
  | "Gather"
  | "GatherElements"
  | "ScatterElements"
  | "ReduceSum"
  | "Softmax"
  | "LogSoftmax"
  | "Expand"
  | "StopGradient";

export type Attribute = number | string | readonly number[];

/** One operation with its inputs and its one output. */
export interface Node {
  readonly op: Op;
  readonly inputs: readonly Value[];
  readonly output: Value;
  readonly attributes: Readonly<Record<string, Attribute>>;
}

/** The operator set every graph declares; RMSNorm and RoPE are written in primitives of it. */
const OPSET = 18;
export const ELEMENT = { float32: 1, int64: 7, bool: 9 } as const;
/** How an operation is spelled in the file, where its name differs. */
const SPELLING: Partial<Record<Op, string>> = { StopGradient: "Identity" };

/** Marks attributes that gradients need and the file holds as inputs: they are not written. */
export const NOTE = "#";

/** A tensor fixed in the graph, as raw little-endian bytes. */
export interface Constant {
  readonly value: Value;
  readonly raw: Uint8Array;
}

/** A value under the name the caller fetches it by. */
export interface Output {
  readonly value: Value;
  readonly name: string;
}

/** The serialised ModelProto of a graph. */
export function encodeModel({ name, inputs, outputs, constants, nodes }: {
  readonly name: string;
  readonly inputs: readonly Value[];
  readonly outputs: readonly Output[];
  readonly constants: readonly Constant[];
  readonly nodes: readonly Node[];
}): Uint8Array {
  const renames = outputs.map(({ value, name }) => ({
    opType: "Identity",
    input: [value.name],
    output: [name],
  }));
  const model = onnx.ModelProto.create({
    irVersion: 8,
    opsetImport: [{ domain: "", version: OPSET }],
    producerName: "holdfast",
    graph: {
      name,
      input: inputs.map(toInfo),
      output: outputs.map(({ value, name }) => toInfo({ ...value, name })),
      initializer: constants.map(({ value, raw }) => ({
        name: value.name,
        dims: [...value.shape],
        dataType: ELEMENT[value.dtype],
        rawData: raw,
      })),
      node: [...reachable(nodes, outputs).map(toProto), ...renames],
    },
  });
  return onnx.ModelProto.encode(model).finish();
}

/** The nodes some output depends on, in order: the runtime would compute the others too. */
function reachable(nodes: readonly Node[], outputs: readonly Output[]): Node[] {
  const wanted = new Set(outputs.map(({ value }) => value.name));
  const kept: Node[] = [];
  for (const node of nodes.toReversed()) {
    if (!wanted.has(node.output.name)) continue;
    node.inputs.forEach((input) => wanted.add(input.name));
    kept.push(node);
  }
  return kept.reverse();
}

function toInfo({ name, dtype, shape }: Value) {
  const dim = shape.map((dimValue) => ({ dimValue }));
  return { name, type: { tensorType: { elemType: ELEMENT[dtype], shape: { dim } } } };
}

function toProto({ op, inputs, output, attributes }: Node) {
  const written = Object.entries(attributes).filter(([name]) => !name.startsWith(NOTE));
  return {
    opType: SPELLING[op] ?? op,
    input: inputs.map((value) => value.name),
    output: [output.name],
    attribute: written.map(([name, value]) =>
      typeof value === "string"
        ? { name, type: 3, s: new TextEncoder().encode(value) }
        : typeof value === "number"
        ? { name, type: 2, i: value }
        : { name, type: 7, ints: [...value] }
    ),
  };
}
