/**
 * Data: problems with their known answers.
 * @module
 */
export type { Problem } from "./problems.ts";
