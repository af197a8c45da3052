/**
 * Routing: candidates and their prices, the requests they get, and what their answers and failures mean.
 * Nothing here waits or knows a clock.
 * @module
 */
export { type Candidate, type Price, priceOf } from "./candidates.ts";
export type {
  CandidateClient,
  CandidateReply,
  CandidateRequest,
  ChatMessage,
  Usage,
} from "./client.ts";
export { UnansweredError } from "./failures.ts";
export { parsePriceBook } from "./price_book.ts";
export { promptTokensAtMost, requestBody, reservationOf } from "./requests.ts";
export { classifyResponse, type RawResponse, type ResponseFailure } from "./responses.ts";
export { type AttemptEnd, createSendWindows, type SendWindows } from "./windows.ts";
