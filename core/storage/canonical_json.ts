/**
 * JSON text that is the same for equal values: keys sorted by UTF-16 units, no blanks. As in JSON,
 * undefined members are left out; throws TypeError on a value JSON cannot hold (NaN, functions, cycles).
 */
export function canonicalJson(value: unknown): string {
  return write(value, []);
}

function write(value: unknown, parents: readonly unknown[]): string {
  if (value === null || typeof value === "boolean" || typeof value === "string") {
    return JSON.stringify(value);
  }
  if (typeof value === "number") {
    if (Number.isFinite(value)) return JSON.stringify(value);
    throw new TypeError(`Cannot write JSON: a number is ${value}`);
  }
  if (typeof value !== "object") {
    throw new TypeError(`Cannot write JSON: a ${typeof value} is inside`);
  }
  if (parents.includes(value)) throw new TypeError("Cannot write JSON: a value contains itself");
  const path = [...parents, value];
  if (Array.isArray(value)) {
    return `[${value.map((item) => write(item === undefined ? null : item, path)).join(",")}]`;
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) {
    throw new TypeError("Cannot write JSON: an object is not a plain one");
  }
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, member]) => `${JSON.stringify(key)}:${write(member, path)}`);
  return `{${members.join(",")}}`;
}
