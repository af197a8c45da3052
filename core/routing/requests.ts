import type { CandidateRequest } from "./client.ts";
import { type Price, priceOf } from "./candidates.ts";

/** Tokens a chat template may add: around each message, and once. */
const TEMPLATE_TOKENS = 16;

/** The body as it is sent; its SHA-256 identifies the request, so members keep this order. */
export function requestBody({ model, messages, max_tokens }: CandidateRequest): string {
  return JSON.stringify({
    model,
    messages: messages.map(({ role, content }) => ({ role, content })),
    max_tokens,
  });
}

/**
 * A bound on the prompt's tokens, whatever the tokenizer: every token of a byte-level vocabulary stands
 * for at least one UTF-8 byte, plus what a chat template adds.
 */
export function promptTokensAtMost({ messages }: CandidateRequest): number {
  return messages.reduce(
    (sum, { content }) => sum + TEMPLATE_TOKENS + utf8Length(content),
    TEMPLATE_TOKENS,
  );
}

/** The most a request can cost, in pico-dollars; throws RangeError where a number cannot hold it. */
export function reservationOf(
  price: Price,
  promptTokensUpperBound: number,
  maxTokens: number,
): number {
  const pico = priceOf(price, {
    promptTokens: promptTokensUpperBound,
    completionTokens: maxTokens,
  });
  if (Number.isSafeInteger(pico) && pico >= 0) return pico;
  throw new RangeError(`Cannot reserve money for a call: its highest cost is ${pico} pico-dollars`);
}

function utf8Length(text: string): number {
  let bytes = 0;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit < 0x80) bytes += 1;
    else if (unit < 0x800) bytes += 2;
    else bytes += unit >= 0xd800 && unit < 0xdc00 && i + 1 < text.length ? (i++, 4) : 3;
  }
  return bytes;
}
