import {
  DamagedArtifactError,
  EngineError,
  InvalidConfigError,
  NotFiniteError,
} from "../../core/errors.ts";
import type { EngineMethods, EngineOptions } from "./_local_engine.ts";

/** A method with its arguments, less those that cannot be sent (functions). */
export type EngineCall =
  | { readonly method: "start"; readonly args: readonly [EngineOptions] }
  | {
    [M in keyof EngineMethods]: {
      readonly method: M;
      readonly args: M extends "learnMany"
        ? readonly [Parameters<EngineMethods[M]>[0], Parameters<EngineMethods[M]>[1]]
        : Parameters<EngineMethods[M]>;
    };
  }[keyof EngineMethods];

/** A call with the number its answers carry. */
export type Request = EngineCall & { readonly id: number };

/** Progress may come before the end of a call; the end comes once. */
export type Response =
  & { readonly id: number }
  & (
    | { readonly type: "progress"; readonly done: number }
    | { readonly type: "result"; readonly value: unknown }
    | { readonly type: "error"; readonly error: SentError }
  );

/** An error as plain data; classes do not survive between threads. */
export interface SentError {
  readonly name: string;
  readonly message: string;
}

/** Kinds of error a caller tells apart. */
const ERRORS = [NotFiniteError, InvalidConfigError, DamagedArtifactError, RangeError] as const;

/** The error for another thread; one that is not ours says that the policy broke. */
export function sendError(error: unknown): SentError {
  if (!(error instanceof Error)) return { name: "Error", message: String(error) };
  const known = error instanceof EngineError || error instanceof RangeError;
  return {
    name: error.name,
    message: known ? error.message : `Cannot run the policy: ${error.message}`,
  };
}

/** The error as it was thrown, of its own class where it is one of ours. */
export function receiveError({ name, message }: SentError): Error {
  const Kind = ERRORS.find((kind) => kind.name === name);
  return Kind === undefined ? new Error(message) : new Kind(message);
}
