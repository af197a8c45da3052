import { CandidateError } from "../../core/errors.ts";
import type { RecordedPool } from "../../core/recorded/mod.ts";
import type { CandidateClient } from "../../core/routing/mod.ts";

/**
 * Answers from recordings, in process and at once: the request's last message must be a recorded question
 * word for word. Usage is what the recordings hold. Throws CandidateError `bad_request` on anything else.
 */
export function createReplayClient(pool: Pick<RecordedPool, "questions">): CandidateClient {
  const byQuestion = new Map(pool.questions.map((question) => [question.question, question]));
  return {
    ask(request, { signal }) {
      if (signal.aborted) return Promise.reject(signal.reason);
      const question = byQuestion.get(request.messages.at(-1)?.content ?? "");
      const answer = question?.answers.get(request.model);
      if (question === undefined || answer === undefined) {
        const missing = question === undefined ? "no such question" : "no such model";
        return Promise.reject(
          new CandidateError(request.model, "bad_request", `its recordings hold ${missing}`),
        );
      }
      return Promise.resolve({
        text: answer.text,
        outcome: "answered",
        usage: { promptTokens: question.tokens, completionTokens: answer.tokens },
      });
    },
  };
}
