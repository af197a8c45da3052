import type { Problem } from "../data/problems.ts";
import type { Random } from "../random.ts";
import type { Trajectory } from "./trajectory.ts";

/** A policy without weights: writes the next turn from the trajectory so far (baselines, demonstrations). */
export type Script = (problem: Problem, trajectory: Trajectory, random: Random) => string;
