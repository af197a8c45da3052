import { createTokenizer } from "../../adapters/policy/tokenizer.ts";
import type { Problem } from "../../core/data/problems.ts";
import type { Script, Trajectory } from "../../core/rollouts/mod.ts";
import {
  type Environment,
  holdfastProtocol,
  startTrajectory,
  takeReplies,
  takeTurn,
} from "../../core/rollouts/mod.ts";
import { createRandom } from "../../core/random.ts";
import { type CandidateReply, priceOf } from "../../core/routing/mod.ts";

/** Plays scripts on problems without server or ledger: what asking costs and brings, nothing else. */
export function createPlayer(
  environment: Environment,
  reply: (model: string, question: string) => Pick<CandidateReply, "text" | "usage">,
): (problem: Problem, slot: number, script: Script) => Trajectory {
  const tokenizer = createTokenizer(environment.tokenizerJson, environment.endOfText);
  return (problem, slot, script) => {
    const rules = {
      problem,
      protocol: holdfastProtocol,
      tokenizer,
      candidates: environment.candidates,
      verbatimOnly: environment.verbatimOnly,
      maxTurns: 4,
      maxResponseTokens: 160,
      maxObservationTokens: 24,
    };
    let trajectory = startTrajectory({
      problem,
      slot,
      rollout: 0,
      tokenizer,
      protocol: holdfastProtocol,
    });
    while (trajectory.status === "live") {
      const text = script(problem, trajectory, createRandom(slot, trajectory.turns));
      const tokenIds = tokenizer.encode(text);
      const logProbs = tokenIds.map(() => 0);
      trajectory = takeTurn(trajectory, { tokenIds, logProbs, finish: "stop" }, rules);
      if (trajectory.status !== "waiting") continue;
      const replies = new Map(trajectory.open.map(({ call, model, question }) => {
        const { text, usage } = reply(model, question);
        const { price } = environment.candidates.find(({ name }) => name === model)!;
        return [call, {
          outcome: "answered" as const,
          text,
          usage,
          costPico: priceOf(price, usage),
        }];
      }));
      trajectory = takeReplies(trajectory, replies, rules);
    }
    return trajectory;
  };
}
