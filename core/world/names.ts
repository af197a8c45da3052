import { createRandom } from "../random.ts";

const ONSETS = [
  "b",
  "br",
  "d",
  "dr",
  "f",
  "g",
  "gl",
  "h",
  "k",
  "l",
  "m",
  "n",
  "p",
  "r",
  "s",
  "t",
  "v",
  "z",
];
const VOWELS = ["a", "e", "i", "o", "u"];
const CODAS = ["l", "m", "n", "r", "s", "x"];

/** Distinct pronounceable lower-case words of two syllables and a coda, none of them in `taken`. */
export function makeNames(
  count: number,
  taken: ReadonlySet<string>,
  ...counters: readonly number[]
): string[] {
  const random = createRandom(...counters);
  const names = new Set<string>();
  while (names.size < count) {
    const syllable = () => random.pick(ONSETS) + random.pick(VOWELS);
    const name = syllable() + syllable() + random.pick(CODAS);
    if (!taken.has(name)) names.add(name);
  }
  return [...names];
}
