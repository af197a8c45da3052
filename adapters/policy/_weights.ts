import { InvalidConfigError } from "../../core/errors.ts";
import {
  type LearnerState,
  type ModelConfig,
  parameterShapes,
  type StateDigest,
} from "../../core/policy/mod.ts";
import { type Tensor, tensorsDigest } from "../../core/storage/mod.ts";
import { dataOf, floats, type Values } from "./_runtime.ts";

/** The learner's state as the runtime takes it; replaced as a whole, never changed in place. */
export interface Weights {
  /** By parameter name. */
  readonly actor: Values;
  /** `exp_avg/{parameter}` and `exp_avg_sq/{parameter}`. */
  readonly moments: Values;
  /** Optimizer steps taken. */
  readonly step: number;
  /** By parameter name; null when no reference policy is kept. */
  readonly reference: Values | null;
}

const MOMENTS = ["exp_avg", "exp_avg_sq"] as const;
const STEP = "optimizer/step";

/** Reads a state; without moments they are zero. Throws InvalidConfigError when it is of another shape. */
export function weightsFrom(state: LearnerState, config: ModelConfig): Weights {
  const shapes = parameterShapes(config);
  const has = (prefix: string) => [...state.keys()].some((name) => name.startsWith(prefix));
  const group = (prefix: string, key: (name: string) => string): Values =>
    Object.fromEntries(
      [...shapes].map(([name, shape]) => {
        const tensor = state.get(`${prefix}/${name}`);
        if (tensor === undefined || String(tensor.shape) !== String(shape)) {
          const found = tensor === undefined ? "is missing" : `has shape [${tensor.shape}]`;
          throw new InvalidConfigError(
            `Cannot load the policy: tensor "${prefix}/${name}" ${found}, the model asks for [${shape}]; use the config it was trained with`,
          );
        }
        return [key(name), floats(Float32Array.from(tensor.data), shape)];
      }),
    );
  const moments = MOMENTS.map((kind) =>
    has(`${kind}/`) ? group(kind, (name) => `${kind}/${name}`) : zerosLike(shapes, `${kind}/`)
  );
  return {
    actor: group("actor", (name) => name),
    moments: Object.assign({}, ...moments),
    step: state.get(STEP)?.data[0] ?? 0,
    reference: has("reference/") ? group("reference", (name) => name) : null,
  };
}

/** The state `weightsFrom` reads; shares the numbers. */
export function stateOf({ actor, moments, step, reference }: Weights): Map<string, Tensor> {
  return new Map([
    ...tensorsOf(actor, "actor/"),
    ...tensorsOf(moments, ""),
    [STEP, { shape: [], data: Float32Array.of(step) }] as const,
    ...tensorsOf(reference ?? {}, "reference/"),
  ]);
}

/** Weights and optimizer apart; the reference is in neither. */
export function digestOf(weights: Weights): StateDigest {
  const isActor = (name: string) => name.startsWith("actor/");
  const entries = [...stateOf(weights)].filter(([name]) => !name.startsWith("reference/"));
  return {
    weights: tensorsDigest(new Map(entries.filter(([name]) => isActor(name)))),
    optimizer: tensorsDigest(new Map(entries.filter(([name]) => !isActor(name)))),
  };
}

/** Zeros for every parameter under a prefix. */
export function zerosLike(
  shapes: ReadonlyMap<string, readonly number[]>,
  prefix: string,
): Values {
  return Object.fromEntries(
    [...shapes].map(([name, shape]) => [
      `${prefix}${name}`,
      floats(new Float32Array(shape.reduce((size, axis) => size * axis, 1)), shape),
    ]),
  );
}

function tensorsOf(values: Values, prefix: string): [string, Tensor][] {
  return Object.keys(values).map((name) => [
    `${prefix}${name}`,
    { shape: [...values[name]!.dims], data: dataOf(values, name) },
  ]);
}
