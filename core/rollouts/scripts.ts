import type { Problem } from "../data/mod.ts";
import type { Random } from "../random.ts";
import type { Environment } from "./environment.ts";
import type { Trajectory } from "./trajectory.ts";

/** A policy without weights: writes the next turn from the trajectory so far (baselines, demonstrations). */
export type Script = (problem: Problem, trajectory: Trajectory, random: Random) => string;

/** The part of an environment that its scripts, by name, are; all but `demonstrator` are baselines. */
export function exposeScripts(
  scripts: ReadonlyMap<string, Script>,
): Pick<Environment, "baselines" | "script"> {
  return {
    baselines: [...scripts.keys()].filter((name) => name !== "demonstrator"),
    script(name) {
      const script = scripts.get(name);
      if (script !== undefined) return script;
      throw new RangeError(
        `Cannot find script "${name}": known are ${[...scripts.keys()].join(", ")}`,
      );
    },
  };
}
