/**
 * A generated world of facts and the specialists who know them: questions that two models must answer
 * together, prices that differ, and an optimum that is known. Everything is a function of its config.
 * @module
 */
export { createWorld } from "./environment.ts";
export { findCheapestPlan, MAX_CALLS, type Plan, type PlannedCall, rewardOf } from "./optimum.ts";
export { type Chain, formatChain, parseChain, resolveChain } from "./questions.ts";
export { answerQuestion, countTokens, countUsage, UNKNOWN, type WorldReply } from "./replies.ts";
export { decompose, decoyOf } from "./scripts.ts";
export { buildWorld, factOf, type Specialist, type World } from "./world.ts";
