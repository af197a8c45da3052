/** A named array: fp32 data in row-major order. */
export interface Tensor {
  readonly shape: readonly number[];
  readonly data: Float32Array;
}
