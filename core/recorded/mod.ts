/**
 * Recorded answers as an environment: a policy routes to what real systems once answered, and is judged by
 * what people said of those answers, without a key or a bill.
 * @module
 */
export { createRecordedEnvironment } from "./environment.ts";
export {
  createRecordedPool,
  parsePoolDescription,
  type PoolDescription,
  type RecordedPool,
} from "./pool.ts";
export { parseRecordedQuestions, type RecordedAnswer, type RecordedQuestion } from "./rows.ts";
