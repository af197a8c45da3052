/**
 * Rewards: pure functions from a finished trajectory to a number, and what many of them say together.
 *
 * A reward never waits, samples or reads a clock, so a stored trajectory always scores the same.
 * @module
 */
export { containsAnswer, exactMatch, normalizeAnswer } from "./exact_match.ts";
export { type Score, scoreTrajectory } from "./score.ts";
export { type Interval, pairedRegretDifference, regretInterval } from "./statistics.ts";
