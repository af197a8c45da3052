import {
  type Attribute,
  type Constant,
  type DType,
  ELEMENT,
  encodeModel,
  type Node,
  NOTE,
  type Op,
  type Output,
  type Value,
} from "./model_proto.ts";
import { broadcastShapes, normalAxis, sizeOf } from "./shapes.ts";

/** Builds an ONNX graph of static shapes; a wrong shape is a RangeError that names op and shapes. */
export class GraphBuilder {
  readonly nodes: Node[] = [];
  readonly #inputs: Value[] = [];
  readonly #outputs: Output[] = [];
  readonly #constants: Constant[] = [];
  #count = 0;

  constructor(readonly name: string) {}

  input(name: string, shape: readonly number[], dtype: DType = "float32"): Value {
    const value = { name, dtype, shape };
    this.#inputs.push(value);
    return value;
  }

  /** A tensor fixed in the graph. */
  constant(
    data: readonly number[] | Float32Array,
    shape: readonly number[],
    dtype: DType = "float32",
  ): Value {
    if (data.length !== sizeOf(shape)) {
      throw new RangeError(
        `Cannot make a constant of shape [${shape}] from ${data.length} numbers`,
      );
    }
    const array = dtype === "float32"
      ? Float32Array.from(data)
      : dtype === "int64"
      ? BigInt64Array.from(Array.from(data, (x) => BigInt(x)))
      : Uint8Array.from(data);
    const value = { name: this.#fresh("c"), dtype, shape };
    this.#constants.push({ value, raw: new Uint8Array(array.buffer) });
    return value;
  }

  scalar(x: number): Value {
    return this.constant([x], []);
  }

  /** Names a value as an output of the graph. */
  output(value: Value, name: string): void {
    this.#outputs.push({ value, name });
  }

  add(a: Value, b: Value): Value {
    return this.#elementwise("Add", a, b);
  }
  sub(a: Value, b: Value): Value {
    return this.#elementwise("Sub", a, b);
  }
  mul(a: Value, b: Value): Value {
    return this.#elementwise("Mul", a, b);
  }
  div(a: Value, b: Value): Value {
    return this.#elementwise("Div", a, b);
  }
  min(a: Value, b: Value): Value {
    return this.#elementwise("Min", a, b);
  }
  max(a: Value, b: Value): Value {
    return this.#elementwise("Max", a, b);
  }
  less(a: Value, b: Value): Value {
    return this.#elementwise("Less", a, b, "bool");
  }
  greater(a: Value, b: Value): Value {
    return this.#elementwise("Greater", a, b, "bool");
  }
  neg(x: Value): Value {
    return this.#node("Neg", [x], x.shape);
  }
  exp(x: Value): Value {
    return this.#node("Exp", [x], x.shape);
  }
  log(x: Value): Value {
    return this.#node("Log", [x], x.shape);
  }
  sqrt(x: Value): Value {
    return this.#node("Sqrt", [x], x.shape);
  }
  sigmoid(x: Value): Value {
    return this.#node("Sigmoid", [x], x.shape);
  }
  /** The same numbers; gradients end here. */
  stopGradient(x: Value): Value {
    return this.#node("StopGradient", [x], x.shape, {}, x.dtype);
  }
  /** `condition ? a : b`, with broadcast. */
  where(condition: Value, a: Value, b: Value): Value {
    const shape = broadcastShapes(
      "Where",
      broadcastShapes("Where", condition.shape, a.shape),
      b.shape,
    );
    return this.#node("Where", [condition, a, b], shape, {}, a.dtype);
  }
  cast(x: Value, dtype: DType): Value {
    return this.#node("Cast", [x], x.shape, { to: ELEMENT[dtype] }, dtype);
  }

  /** Batched product [.., m, k] × [.., k, n] → [.., m, n]. */
  matmul(a: Value, b: Value): Value {
    const [m, k] = a.shape.slice(-2);
    const [k2, n] = b.shape.slice(-2);
    if (a.shape.length < 2 || b.shape.length < 2 || k !== k2) {
      throw new RangeError(`Cannot build MatMul: shapes are [${a.shape}] and [${b.shape}]`);
    }
    const batch = broadcastShapes("MatMul", a.shape.slice(0, -2), b.shape.slice(0, -2));
    return this.#node("MatMul", [a, b], [...batch, m!, n!]);
  }

  transpose(x: Value, perm: readonly number[]): Value {
    if (
      [...perm].sort((a, b) => a - b).some((axis, i) => axis !== i) ||
      perm.length !== x.shape.length
    ) {
      throw new RangeError(`Cannot build Transpose: [${perm}] does not permute shape [${x.shape}]`);
    }
    return this.#node("Transpose", [x], perm.map((axis) => x.shape[axis]!), { perm }, x.dtype);
  }

  reshape(x: Value, shape: readonly number[]): Value {
    if (sizeOf(shape) !== sizeOf(x.shape)) {
      throw new RangeError(`Cannot build Reshape: shapes are [${x.shape}] and [${shape}]`);
    }
    const target = this.constant(shape, [shape.length], "int64");
    return this.#node("Reshape", [x, target], shape, {}, x.dtype);
  }

  expand(x: Value, shape: readonly number[]): Value {
    if (String(broadcastShapes("Expand", x.shape, shape)) !== String(shape)) {
      throw new RangeError(`Cannot build Expand: shapes are [${x.shape}] and [${shape}]`);
    }
    const target = this.constant(shape, [shape.length], "int64");
    return this.#node("Expand", [x, target], shape, {}, x.dtype);
  }

  concat(values: readonly Value[], axis: number): Value {
    const first = values[0]!;
    const at = normalAxis("Concat", axis, first.shape);
    for (const { shape } of values) {
      if (
        shape.length !== first.shape.length ||
        shape.some((n, i) => i !== at && n !== first.shape[i])
      ) {
        throw new RangeError(
          `Cannot build Concat on axis ${at}: shapes are [${first.shape}] and [${shape}]`,
        );
      }
    }
    const total = values.reduce((sum, value) => sum + value.shape[at]!, 0);
    const shape = first.shape.map((n, i) => i === at ? total : n);
    return this.#node("Concat", values, shape, { axis: at }, first.dtype);
  }

  /** Elements [start, end) of one axis. */
  slice(x: Value, axis: number, start: number, end: number): Value {
    const at = normalAxis("Slice", axis, x.shape);
    if (!(start >= 0 && start < end && end <= x.shape[at]!)) {
      throw new RangeError(
        `Cannot build Slice: [${start}, ${end}) is outside axis ${at} of [${x.shape}]`,
      );
    }
    const vector = (n: number) => this.constant([n], [1], "int64");
    const shape = x.shape.map((n, i) => i === at ? end - start : n);
    const inputs = [x, vector(start), vector(end), vector(at)];
    return this.#node("Slice", inputs, shape, {}, x.dtype, { start, end, axis: at });
  }

  /** Rows of a table: [v, ..] by indices [..] → [.., ..]. */
  gather(table: Value, indices: Value): Value {
    this.#wantsIndices("Gather", indices);
    return this.#node("Gather", [table, indices], [...indices.shape, ...table.shape.slice(1)], {
      axis: 0,
    }, table.dtype);
  }

  /** x[.., indices[..], ..] along one axis; ranks agree. */
  gatherElements(x: Value, indices: Value, axis: number): Value {
    this.#wantsIndices("GatherElements", indices);
    const at = normalAxis("GatherElements", axis, x.shape);
    if (indices.shape.length !== x.shape.length) {
      throw new RangeError(
        `Cannot build GatherElements: shapes are [${x.shape}] and [${indices.shape}]`,
      );
    }
    return this.#node("GatherElements", [x, indices], indices.shape, { axis: at }, x.dtype);
  }

  /** `x` with `updates` added at (or written to) `indices` along one axis; sound with repeated indices. */
  scatterElements(
    x: Value,
    indices: Value,
    updates: Value,
    axis: number,
    reduction: "add" | "none",
  ): Value {
    this.#wantsIndices("ScatterElements", indices);
    const at = normalAxis("ScatterElements", axis, x.shape);
    if (String(indices.shape) !== String(updates.shape)) {
      throw new RangeError(
        `Cannot build ScatterElements: shapes are [${indices.shape}] and [${updates.shape}]`,
      );
    }
    return this.#node(
      "ScatterElements",
      [x, indices, updates],
      x.shape,
      { axis: at, reduction },
      x.dtype,
    );
  }

  reduceSum(x: Value, axes: readonly number[], keepDims = false): Value {
    const at = axes.map((axis) => normalAxis("ReduceSum", axis, x.shape));
    const shape = x.shape.flatMap((n, i) => at.includes(i) ? (keepDims ? [1] : []) : [n]);
    const inputs = [x, this.constant(at, [at.length], "int64")];
    const attributes = { keepdims: keepDims ? 1 : 0, noop_with_empty_axes: 1 };
    return this.#node("ReduceSum", inputs, shape, attributes, x.dtype, { axes: at });
  }
  reduceMean(x: Value, axes: readonly number[], keepDims = false): Value {
    const count = axes.reduce(
      (n, axis) => n * x.shape[normalAxis("ReduceMean", axis, x.shape)]!,
      1,
    );
    return this.mul(this.reduceSum(x, axes, keepDims), this.scalar(1 / count));
  }
  softmax(x: Value, axis: number): Value {
    return this.#node("Softmax", [x], x.shape, { axis: normalAxis("Softmax", axis, x.shape) });
  }
  logSoftmax(x: Value, axis: number): Value {
    return this.#node("LogSoftmax", [x], x.shape, {
      axis: normalAxis("LogSoftmax", axis, x.shape),
    });
  }

  /** The serialised ModelProto. */
  build(): Uint8Array {
    return encodeModel({
      name: this.name,
      inputs: this.#inputs,
      outputs: this.#outputs,
      constants: this.#constants,
      nodes: this.nodes,
    });
  }

  #fresh(prefix: string): string {
    return `${prefix}${this.#count++}`;
  }

  #wantsIndices(op: Op, indices: Value): void {
    if (indices.dtype !== "int64") {
      throw new RangeError(`Cannot build ${op}: indices are ${indices.dtype}, must be int64`);
    }
  }

  #elementwise(op: Op, a: Value, b: Value, dtype?: DType): Value {
    if (a.dtype !== b.dtype) {
      throw new RangeError(`Cannot build ${op}: types are ${a.dtype} and ${b.dtype}`);
    }
    return this.#node(op, [a, b], broadcastShapes(op, a.shape, b.shape), {}, dtype ?? a.dtype);
  }

  /** `notes` are what gradients need to know and the file holds as inputs. */
  #node(
    op: Op,
    inputs: readonly Value[],
    shape: readonly number[],
    attributes: Record<string, Attribute> = {},
    dtype: DType = "float32",
    notes: Record<string, Attribute> = {},
  ): Value {
    const output = { name: this.#fresh("v"), dtype, shape };
    this.nodes.push({ op, inputs, output, attributes: { ...attributes, ...prefixed(notes) } });
    return output;
  }
}

/** Notes are kept among the attributes under a mark that the file leaves out. */
function prefixed(notes: Record<string, Attribute>): Record<string, Attribute> {
  return Object.fromEntries(Object.entries(notes).map(([key, value]) => [`${NOTE}${key}`, value]));
}
