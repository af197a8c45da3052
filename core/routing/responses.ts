import type { CandidateError } from "../errors.ts";

/** How long a provider's wish to wait is followed at most, in ms; then it is asked again. */
const LONGEST_WAIT_MS = 15 * 60_000;

/** What a provider answered, its body read as text. */
export interface RawResponse {
  readonly status: number;
  readonly headers: Pick<Headers, "get">;
  readonly body: string;
  /** Now, in ms since 1970, for a `Retry-After` that is a date. */
  readonly nowMs: number;
}

/** A refusal or a fault of a provider. */
export interface ResponseFailure {
  readonly kind: CandidateError["kind"];
  /** One clause about the response, with at most a short escaped excerpt of its body. */
  readonly detail: string;
  readonly retryAfterMs: number | null;
}

/**
 * Names the failure of a response whose status is not 2xx. A spent credit counts as `bad_key`: both need
 * the operator. Statuses follow RFC 9110; 402 and 529 and the error codes are those providers document.
 */
export function classifyResponse(response: RawResponse): ResponseFailure {
  const code = errorCode(response.body);
  return {
    kind: kindOf(response.status, code),
    detail: `status is ${response.status}` + (code === null ? "" : `, code is ${code}`) +
      (response.body === "" ? "" : `, body is ${excerpt(response.body)}`),
    retryAfterMs: parseRetryAfter(response.headers, response.nowMs),
  };
}

function kindOf(status: number, code: string | null): ResponseFailure["kind"] {
  if (status === 401 || status === 402) return "bad_key";
  if (status === 408 || status === 409 || status === 425 || status >= 500 || status < 400) {
    return "unavailable";
  }
  if (code !== null && /quota|billing|credit/.test(code)) return "bad_key";
  if (status === 429) return "rate_limited";
  if (code !== null && /content_(filter|policy)|moderation/.test(code)) return "content_filter";
  return status === 403 ? "bad_key" : "bad_request";
}

/** `error.code`, else `error.type`, of an error body in OpenAI's form, when it looks like a code. */
function errorCode(body: string): string | null {
  try {
    const { error } = JSON.parse(body) as { error?: { code?: unknown; type?: unknown } };
    for (const code of [error?.code, error?.type]) {
      if (typeof code === "string" && /^[\w.-]{1,64}$/.test(code)) return code.toLowerCase();
    }
  } catch {
    // not JSON: there is no code
  }
  return null;
}

/**
 * How long to wait, in ms: `retry-after-ms`, else `Retry-After` in seconds or as an HTTP date; null when
 * absent or unreadable, at most 15 minutes, 0 for a date that has passed.
 */
export function parseRetryAfter(headers: Pick<Headers, "get">, nowMs: number): number | null {
  const ms = decimal(headers.get("retry-after-ms"));
  if (ms !== null) return clampWait(ms);
  const text = headers.get("retry-after");
  const seconds = decimal(text);
  if (seconds !== null) return clampWait(seconds * 1000);
  const date = text === null || !/[a-z]{3}/i.test(text) ? NaN : Date.parse(text);
  return Number.isNaN(date) ? null : clampWait(date - nowMs);
}

function decimal(text: string | null): number | null {
  return text !== null && /^\s*\d+(\.\d+)?\s*$/.test(text) ? Number(text) : null;
}

function clampWait(ms: number): number {
  return Math.ceil(Math.min(Math.max(ms, 0), LONGEST_WAIT_MS));
}

/** The start of a foreign text, on one line, with what looks like a key taken out. */
export function excerpt(text: string): string {
  const clean = text.slice(0, 400).replace(/\b(?:sk|key)-[\w.*-]{6,}|\bBearer\s+\S+/gi, "(key)");
  return JSON.stringify(clean.length > 120 ? `${clean.slice(0, 120)}…` : clean);
}
