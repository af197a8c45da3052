import type { Problem } from "../data/mod.ts";
import { hashText } from "../random.ts";
import { type Environment, exposeScripts } from "../rollouts/mod.ts";
import { callCostPico, type RecordedPool } from "./pool.ts";
import type { RecordedQuestion } from "./rows.ts";
import { createScripts } from "./scripts.ts";

/**
 * Problems whose candidates are recorded: the policy routes to what real systems answered. A problem's
 * `extra_info.verdicts` tells, by model, whether people judged the recorded answer right. The recorded
 * `dev` questions are cut in two by a hash of their id, `dev` for looks during a run, `test` for its end.
 */
export function createRecordedEnvironment(pool: RecordedPool): Environment {
  const byId = new Map(pool.questions.map((question) => [question.id, question]));
  const problems = pool.questions.map((question) => toProblem(question, pool));
  return {
    name: pool.name,
    candidates: pool.candidates,
    problems: (split) => problems.filter((problem) => problem.split === split),
    verbatimOnly: true,
    tokenizerJson: pool.tokenizerJson,
    endOfText: pool.endOfText,
    ...exposeScripts(createScripts(pool, byId)),
    /** The best single recorded answer, its call paid; 0 where asking nobody is best. */
    optimum(problem, costCoe) {
      const question = byId.get(problem.id);
      if (question === undefined) throw new RangeError(`Cannot find problem "${problem.id}"`);
      const rewards = pool.candidates
        .map((candidate) => ({ candidate, answer: question.answers.get(candidate.name)! }))
        .filter(({ answer }) => answer.correct)
        .map(({ candidate, answer }) =>
          1 - costCoe * callCostPico(candidate, question, answer) / 1e12
        );
      return Math.max(0, ...rewards);
    },
  };
}

function toProblem(question: RecordedQuestion, pool: RecordedPool): Problem {
  const held = hashText(question.id) % 2 === 0 ? "dev" : "test";
  return {
    id: question.id,
    data_source: pool.name,
    split: question.split === "train" ? "train" : held,
    question: question.question,
    golden_answers: question.goldenAnswers,
    extra_info: {
      verdicts: Object.fromEntries(
        [...question.answers].map(([model, { correct }]) => [model, correct]),
      ),
    },
  };
}
