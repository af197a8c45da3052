/** Turns in the engine's own grammar, as scripts write them; `holdfastProtocol` reads them back. */

/** Sends the user's question as it is. */
export function sendTurn(model: string): string {
  return `<route model="${model}"/>`;
}

/** Asks a question of its own. */
export function askTurn(model: string, question: string): string {
  return `<route model="${model}">${question}</route>`;
}

/** Gives a reply, counted from 1, word for word. */
export function quoteTurn(reply: number): string {
  return `<answer from="${reply}"/>`;
}

/** Gives an answer in words of its own. */
export function answerTurn(text: string): string {
  return `<answer>${text}</answer>`;
}
