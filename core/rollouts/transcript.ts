import type { Problem } from "../data/mod.ts";
import type { GeneratedTurn, Tokenizer } from "../policy/mod.ts";
import type { Candidate } from "../routing/mod.ts";
import type { MistakeCode } from "./mistakes.ts";
import type { Protocol, TurnAction } from "./protocol.ts";
import type { AnsweredCall, Trajectory } from "./trajectory.ts";

/** What it takes to read a turn and to answer it. */
export interface TurnRules {
  readonly problem: Problem;
  readonly protocol: Protocol;
  readonly tokenizer: Tokenizer;
  readonly candidates: readonly Candidate[];
  /** Whether candidates can only be asked the user's own question. */
  readonly verbatimOnly: boolean;
  /** Turns the policy has; a call in the last one is a mistake, for nobody would read its reply. */
  readonly maxTurns: number;
  /** Tokens after the prompt; a trajectory that passes them is exhausted. */
  readonly maxResponseTokens: number;
  /** Tokens of one observation, its tags included; longer replies are cut inside the tags. */
  readonly maxObservationTokens: number;
}

/** What came back for an open call; `dropped` when infrastructure gave no answer at all. */
export type ReceivedReply =
  | Pick<AnsweredCall, "outcome" | "text" | "usage" | "costPico">
  | "dropped";

/** A trajectory that holds the prompt alone and wants its first turn. */
export function startTrajectory(
  { problem, slot, rollout, tokenizer, protocol }: {
    readonly problem: Problem;
    readonly slot: number;
    readonly rollout: number;
    readonly tokenizer: Tokenizer;
    readonly protocol: Protocol;
  },
): Trajectory {
  const tokenIds = tokenizer.encode(protocol.prompt(problem));
  return {
    slot,
    rollout,
    problemId: problem.id,
    promptLength: tokenIds.length,
    tokenIds,
    arrays: {
      response_mask: tokenIds.map(() => 0),
      rollout_log_probs: tokenIds.map(() => 0),
    },
    turns: 0,
    calls: [],
    open: [],
    mistakes: [],
    answer: null,
    answerFrom: null,
    status: "live",
  };
}

/**
 * Adds a turn the policy (or a script) wrote to a live trajectory. Its token ids are kept as they were
 * sampled; their text is only read. A route opens a call, an answer ends the trajectory, a mistake is
 * told to the policy, which may go on. Throws RangeError unless the trajectory is live.
 */
export function takeTurn(
  trajectory: Trajectory,
  turn: GeneratedTurn,
  rules: TurnRules,
): Trajectory {
  if (trajectory.status !== "live") {
    throw new RangeError(`Cannot take a turn: the trajectory is ${trajectory.status}`);
  }
  const said = append(trajectory, turn.tokenIds, turn.logProbs, 1);
  const taken = { ...said, turns: trajectory.turns + 1 };
  if (responseLength(taken) > rules.maxResponseTokens) return { ...taken, status: "exhausted" };
  const action = admit(read(turn, rules), taken, rules);
  switch (action.kind) {
    case "mistake":
      return afterMistake(taken, action.code, rules);
    case "answer":
      return { ...taken, answer: action.text, status: "answered" };
    case "quote":
      return {
        ...taken,
        answer: taken.calls[action.reply - 1]!.text,
        answerFrom: action.reply,
        status: "answered",
      };
    case "route":
      return {
        ...taken,
        open: [{
          turn: trajectory.turns,
          call: 0,
          model: action.model,
          question: action.question ?? rules.problem.question,
        }],
        status: "waiting",
      };
  }
}

/**
 * Adds the replies to a waiting trajectory's open calls, by their number `call`, in the order of the
 * calls. One dropped reply drops the trajectory. Throws RangeError unless every open call has a reply.
 */
export function takeReplies(
  trajectory: Trajectory,
  replies: ReadonlyMap<number, ReceivedReply>,
  rules: TurnRules,
): Trajectory {
  if (trajectory.status !== "waiting") {
    throw new RangeError(`Cannot take replies: the trajectory is ${trajectory.status}`);
  }
  let next: Trajectory = { ...trajectory, open: [], status: "live" };
  for (const open of trajectory.open) {
    const reply = replies.get(open.call);
    if (reply === undefined) {
      throw new RangeError(`Cannot take replies: call ${open.call} has none`);
    }
    if (reply === "dropped") return { ...trajectory, open: [], status: "dropped" };
    const { outcome, text, usage, costPico } = reply;
    const answered: AnsweredCall = { ...open, outcome, text, usage, costPico };
    next = observe({ ...next, calls: [...next.calls, answered] }, encodeReply(answered, rules));
  }
  return wantsTurn(next, rules);
}

/** Tokens after the prompt, sampled or observed. */
export function responseLength(trajectory: Trajectory): number {
  return trajectory.tokenIds.length - trajectory.promptLength;
}

function read(turn: GeneratedTurn, { protocol, tokenizer }: TurnRules): TurnAction {
  if (turn.finish === "length") return mistake("too_long");
  const ids = turn.tokenIds.at(-1) === tokenizer.endOfText
    ? turn.tokenIds.slice(0, -1)
    : turn.tokenIds;
  return protocol.parseTurn(tokenizer.decode(ids));
}

/** The action, or the mistake it is at this point of this trajectory. */
function admit(action: TurnAction, taken: Trajectory, rules: TurnRules): TurnAction {
  if (action.kind === "quote" && taken.calls[action.reply - 1] === undefined) {
    return mistake("no_such_reply");
  }
  if (action.kind !== "route") return action;
  if (!rules.candidates.some(({ name }) => name === action.model)) return mistake("unknown_model");
  const own = action.question !== null && action.question !== rules.problem.question.trim();
  if (own && rules.verbatimOnly) return mistake("only_users_question");
  return taken.turns >= rules.maxTurns ? mistake("last_turn") : action;
}

function mistake(code: MistakeCode): TurnAction {
  return { kind: "mistake", code };
}

function afterMistake(taken: Trajectory, code: string, rules: TurnRules): Trajectory {
  const told = { ...taken, mistakes: [...taken.mistakes, code] };
  if (taken.turns >= rules.maxTurns) return { ...told, status: "exhausted" };
  return wantsTurn(observe(told, rules.tokenizer.encode(rules.protocol.correct(code))), rules);
}

function wantsTurn(trajectory: Trajectory, rules: TurnRules): Trajectory {
  const full = trajectory.turns >= rules.maxTurns ||
    responseLength(trajectory) >= rules.maxResponseTokens;
  return full ? { ...trajectory, status: "exhausted" } : trajectory;
}

function observe(trajectory: Trajectory, tokenIds: readonly number[]): Trajectory {
  return append(trajectory, tokenIds, tokenIds.map(() => 0), 0);
}

function append(
  trajectory: Trajectory,
  tokenIds: readonly number[],
  logProbs: readonly number[],
  mask: 0 | 1,
): Trajectory {
  const { response_mask = [], rollout_log_probs = [] } = trajectory.arrays;
  return {
    ...trajectory,
    tokenIds: [...trajectory.tokenIds, ...tokenIds],
    arrays: {
      ...trajectory.arrays,
      response_mask: [...response_mask, ...tokenIds.map(() => mask)],
      rollout_log_probs: [...rollout_log_probs, ...logProbs],
    },
  };
}

/** The reply's observation, its text cut from the end until it keeps to the limit. */
function encodeReply(
  { text, outcome }: AnsweredCall,
  { protocol, tokenizer, maxObservationTokens }: TurnRules,
): number[] {
  const encode = (part: string) => tokenizer.encode(protocol.observe({ text: part, outcome }));
  const whole = encode(text);
  if (whole.length <= maxObservationTokens) return whole;
  const ids = tokenizer.encode(text);
  for (let keep = maxObservationTokens - encode("").length; keep > 0; keep--) {
    // a cut inside a character decodes to replacement characters
    const cut = encode(tokenizer.decode(ids.slice(0, keep)).replace(/\uFFFD+$/u, ""));
    if (cut.length <= maxObservationTokens) return cut;
  }
  return encode("");
}
