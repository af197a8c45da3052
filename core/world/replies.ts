import { hashText, uniformAt } from "../random.ts";
import type { Usage } from "../routing/mod.ts";
import { parseChain, resolveChain } from "./questions.ts";
import type { World } from "./world.ts";

/** What a specialist says when it declines. */
export const UNKNOWN = "unknown";

/** What a specialist says, and whether it knew. */
export interface WorldReply {
  readonly text: string;
  readonly known: boolean;
}

const DECLINE = hashText("decline");
const WRONG = hashText("wrong");

/**
 * A specialist's reply to any text. It knows a question whose relations are all its own; to others of
 * this world it says "unknown" half of the time, else a wrong entity, and "unknown" to any other text.
 * The reply is a function of the world, the model and the text. Throws RangeError on an unknown model.
 */
export function answerQuestion(world: World, model: string, text: string): WorldReply {
  const specialist = world.specialists.get(model);
  if (specialist === undefined) {
    throw new RangeError(
      `Cannot ask "${model}": known are ${[...world.specialists.keys()].join(", ")}`,
    );
  }
  const chain = parseChain(world, text);
  if (chain === null) return { text: UNKNOWN, known: false };
  const right = resolveChain(world, chain);
  if (chain.relations.every((relation) => specialist.relations.has(relation))) {
    return { text: right, known: true };
  }
  const counters = [world.config.seed, specialist.index, hashText(text.trim())] as const;
  if (uniformAt(DECLINE, ...counters) < 0.5) return { text: UNKNOWN, known: false };
  const draw = Math.floor(uniformAt(WRONG, ...counters) * (world.entities.length - 1));
  const skip = world.entityIndex.get(right)!;
  return { text: world.entities[draw < skip ? draw : draw + 1]!, known: false };
}

/** Tokens the world's models count: each word or number is one, each other character but white space is one. */
export function countTokens(text: string): number {
  return text.match(/[\p{L}\p{M}\p{N}]+|[^\s\p{L}\p{M}\p{N}]/gu)?.length ?? 0;
}

/** Tokens of a request's texts and of a reply; nothing is added around messages. */
export function countUsage(prompts: readonly string[], reply: string): Usage {
  return {
    promptTokens: prompts.reduce((sum, text) => sum + countTokens(text), 0),
    completionTokens: countTokens(reply),
  };
}
