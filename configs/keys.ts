import { z } from "zod";
import { RunConfig } from "./run.ts";

/** Every setting of a run by its dotted name, in the order of the schema. */
export const KNOWN_KEYS: readonly string[] = keysOf(RunConfig, "");

function keysOf(schema: unknown, name: string): string[] {
  if (schema instanceof z.ZodObject) {
    return Object.entries(schema.shape).flatMap(([key, member]) =>
      keysOf(member, name === "" ? key : `${name}.${key}`)
    );
  }
  if (
    schema instanceof z.ZodPrefault || schema instanceof z.ZodDefault ||
    schema instanceof z.ZodNullable
  ) return keysOf(schema.unwrap(), name);
  return [name];
}

/** The known name most like this one: fewest insertions, deletions and replacements; null for an empty list. */
export function nearest(name: string, known: readonly string[]): string | null {
  let best: { name: string; distance: number } | null = null;
  for (const candidate of known) {
    const distance = editDistance(name, candidate);
    if (best === null || distance < best.distance) best = { name: candidate, distance };
  }
  return best?.name ?? null;
}

/** Levenshtein's distance. */
function editDistance(a: string, b: string): number {
  let above = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = above[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      row.push(Math.min(replaced, above[j]! + 1, row[j - 1]! + 1));
    }
    above = row;
  }
  return above[b.length]!;
}
