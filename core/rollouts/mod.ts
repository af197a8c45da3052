/**
 * Rollouts: turn grammars, and the trajectory they write. A trajectory is data: every step of it is a pure
 * function of what was sampled and what was answered, so a play interrupted anywhere goes on identically.
 * @module
 */
export type { Environment } from "./environment.ts";
export { holdfastProtocol, PROTOCOL_PIECES } from "./holdfast.ts";
export { escapeText, unescapeText } from "./markup.ts";
export { type MistakeCode, MISTAKES } from "./mistakes.ts";
export type { Protocol, TurnAction } from "./protocol.ts";
export { exposeScripts, type Script } from "./scripts.ts";
export { decodeTrajectories, encodeTrajectories } from "./shard.ts";
export type { AnsweredCall, OpenCall, Trajectory } from "./trajectory.ts";
export {
  type ReceivedReply,
  responseLength,
  startTrajectory,
  takeReplies,
  takeTurn,
  type TurnRules,
} from "./transcript.ts";
export { answerTurn, askTurn, quoteTurn, sendTurn } from "./turns.ts";
