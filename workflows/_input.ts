import { ApplicationFailure } from "@temporalio/common";

/** A field of a workflow's input: whether a value fits, and what it must be, in words. */
export interface Field {
  readonly words: string;
  fits(value: unknown): boolean;
}

export const text: Field = {
  words: "a text",
  fits: (value) => typeof value === "string" && value !== "",
};
export const flag: Field = {
  words: "true or false",
  fits: (value) => typeof value === "boolean",
};
export const stepNumber: Field = {
  words: "a whole number, 0 or more",
  fits: (value) => Number.isSafeInteger(value) && Number(value) >= 0,
};
export const settings: Field = {
  words: 'a list such as ["trainer.seed=2"]',
  fits: (value) => Array.isArray(value) && value.every((entry) => typeof entry === "string"),
};
export const oneOf = (...words: readonly string[]): Field => ({
  words: words.map((word) => JSON.stringify(word)).join(" or "),
  fits: (value) => words.includes(value as string),
});

/**
 * The input as typed by hand in the Temporal UI: absent or null counts as `{}`, a field that is null as
 * absent. Fails the workflow, in one sentence, on what is no object, an unknown field and a wrong value.
 */
export function readInput<T extends object>(
  workflow: string,
  input: unknown,
  fields: { readonly [K in keyof Required<T>]: Field },
  required: readonly string[] = [],
): T {
  const names = Object.keys(fields).join(", ");
  const fail = (what: string) => {
    throw ApplicationFailure.nonRetryable(
      `Cannot start ${workflow}: ${what}`,
      "InvalidConfigError",
    );
  };
  if (typeof (input ?? {}) !== "object" || Array.isArray(input)) {
    fail(`the input is ${JSON.stringify(input)}, must be one JSON object with fields of ${names}`);
  }
  const given = Object.entries(input ?? {}).filter(([, value]) => value !== null);
  for (const [name, value] of given) {
    const field = Object.hasOwn(fields, name) ? fields[name as keyof T] : undefined;
    if (field === undefined) fail(`the input has a field "${name}"; its fields are ${names}`);
    else if (!field.fits(value)) {
      fail(`${name} is ${JSON.stringify(value)}, must be ${field.words}`);
    }
  }
  for (const name of required) {
    if (!given.some(([other]) => other === name)) {
      fail(`the input lacks ${name}; its fields are ${names}`);
    }
  }
  return Object.fromEntries(given) as T;
}
