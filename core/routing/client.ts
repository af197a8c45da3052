/** One message of OpenAI's chat form. */
export interface ChatMessage {
  readonly role: "system" | "user" | "assistant";
  readonly content: string;
}

/** The body that goes to a candidate; its SHA-256 is part of the call's identity. */
export interface CandidateRequest {
  readonly model: string;
  readonly messages: readonly ChatMessage[];
  readonly max_tokens: number;
}

/** Tokens a provider counted. */
export interface Usage {
  readonly promptTokens: number;
  readonly completionTokens: number;
}

/** An answer, parsed and checked, not yet priced. */
export interface CandidateReply {
  readonly text: string;
  readonly outcome: "answered" | "content_filter";
  readonly usage: Usage;
}

/** Answers a request or throws CandidateError. One call of this port is one billed attempt. */
export interface CandidateClient {
  ask(
    request: CandidateRequest,
    options: { readonly idempotencyKey: string; readonly signal: AbortSignal },
  ): Promise<CandidateReply>;
}
