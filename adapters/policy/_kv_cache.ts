import type { ModelConfig } from "../../core/policy/mod.ts";
import { dataOf, floats, type Values } from "./_runtime.ts";

/** Keys and values of a batch of rows, by layer [rows, kv heads, length, head_dim]. */
export class KvCache {
  readonly #config: ModelConfig;
  readonly #length: number;
  readonly #arrays: readonly { readonly name: string; readonly data: Float32Array }[];

  constructor(config: ModelConfig, { rows, length }: { rows: number; length: number }) {
    this.#config = config;
    this.#length = length;
    const size = rows * this.#rowSize;
    this.#arrays = Array.from({ length: config.num_hidden_layers }, (_, layer) => layer)
      .flatMap((layer) => [`key/${layer}`, `value/${layer}`])
      .map((name) => ({ name, data: new Float32Array(size) }));
  }

  /** Bytes of a row's cache. */
  static bytesPerRow(config: ModelConfig, length: number): number {
    const { num_hidden_layers, num_key_value_heads, head_dim } = config;
    return 8 * num_hidden_layers * num_key_value_heads * length * head_dim;
  }

  /** Inputs of the step graph for the first `rows` rows, without a copy. */
  feeds(rows: number): Values {
    const { num_key_value_heads: groups, head_dim } = this.#config;
    return Object.fromEntries(
      this.#arrays.map(({ name, data }) => [
        `cached_${name}`,
        floats(data.subarray(0, rows * this.#rowSize), [rows, groups, this.#length, head_dim]),
      ]),
    );
  }

  /**
   * Copies the first `count` places of row `from` of a graph's outputs (`places` to a row) to `row`, from
   * place `at` on.
   */
  write(
    outputs: Values,
    { from, places, count }: { from: number; places: number; count: number },
    { row, at }: { row: number; at: number },
  ): void {
    const { num_key_value_heads: groups, head_dim: h } = this.#config;
    for (const { name, data } of this.#arrays) {
      const source = dataOf(outputs, name);
      for (let group = 0; group < groups; group++) {
        const start = (from * groups + group) * places * h;
        const target = ((row * groups + group) * this.#length + at) * h;
        for (let i = 0; i < count * h; i++) data[target + i] = source[start + i]!;
      }
    }
  }

  /** Copies a row over another. */
  move(from: number, to: number): void {
    const size = this.#rowSize;
    for (const { data } of this.#arrays) data.copyWithin(to * size, from * size, (from + 1) * size);
  }

  get #rowSize(): number {
    const { num_key_value_heads, head_dim } = this.#config;
    return num_key_value_heads * this.#length * head_dim;
  }
}
