/** What a policy can do wrong, by code, in the words it gets to read. */
export const MISTAKES = {
  not_a_call: "Write one route or one answer",
  two_calls: "Write only one route or answer in a turn",
  stray_text: "Write nothing after the route or answer",
  stray_tag: "Write no other tags",
  empty_question: "The question is empty",
  empty_answer: "The answer is empty",
  too_long: "The turn is too long",
  unknown_model: "There is no such model",
  no_such_reply: "There is no such reply",
  only_users_question: "This model takes only the question of the user",
  last_turn: "No turn is left to read a reply",
} as const;

/** A mistake's name in records and metrics. */
export type MistakeCode = keyof typeof MISTAKES;
