import { createRandom, hashText } from "../random.ts";

const LETTERS = { C: "bdfgklmnprstvz", V: "aeiou" } as const;

/**
 * Shapes of consonants and vowels. They have one length and differ, so names of different kinds are
 * different words and no name is part of another.
 */
const SHAPES = { entity: "CVCVCV", relation: "CVCCVC", specialist: "VCCVCV" } as const;

/** The first names of a kind, distinct; a longer list begins with the shorter one. */
export function generateNames(
  kind: keyof typeof SHAPES,
  { seed, count }: { readonly seed: number; readonly count: number },
): string[] {
  const random = createRandom(seed, hashText(kind));
  const names = new Set<string>();
  while (names.size < count) {
    const letters = Array.from(
      SHAPES[kind],
      (sort) => random.pick(Array.from(LETTERS[sort as keyof typeof LETTERS])),
    );
    names.add(letters.join(""));
  }
  return [...names];
}
