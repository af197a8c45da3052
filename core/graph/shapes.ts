/** How many elements a shape holds; 1 for a scalar. */
export function sizeOf(shape: readonly number[]): number {
  return shape.reduce((product, n) => product * n, 1);
}

/** An axis counted from the front; throws RangeError when the shape has no such axis. */
export function normalAxis(op: string, axis: number, shape: readonly number[]): number {
  const at = axis < 0 ? axis + shape.length : axis;
  if (at >= 0 && at < shape.length) return at;
  throw new RangeError(`Cannot build ${op}: shape [${shape}] has no axis ${axis}`);
}

/** The shape two shapes broadcast to (numpy's rule); throws RangeError when they do not. */
export function broadcastShapes(op: string, a: readonly number[], b: readonly number[]): number[] {
  const rank = Math.max(a.length, b.length);
  return Array.from({ length: rank }, (_, i) => {
    const x = a[i - rank + a.length] ?? 1;
    const y = b[i - rank + b.length] ?? 1;
    if (x !== y && x !== 1 && y !== 1) {
      throw new RangeError(`Cannot build ${op}: shapes are [${a}] and [${b}]`);
    }
    return Math.max(x, y);
  });
}
