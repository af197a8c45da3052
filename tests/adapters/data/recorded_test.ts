import assert from "node:assert/strict";
import { Tokenizer } from "@huggingface/tokenizers";
import { loadRecordedRows } from "../../../adapters/data/recorded.ts";
import { containsAnswer } from "../../../core/rewards/mod.ts";
import { createRecordedEnvironment } from "../../../core/recorded/mod.ts";
import { holdfastProtocol } from "../../../core/rollouts/mod.ts";

const pool = await loadRecordedRows("pools/replay_nq.json");
const environment = createRecordedEnvironment(pool);
const tokenizer = new Tokenizer(JSON.parse(pool.tokenizerJson), {});
const encode = (text: string): number[] =>
  tokenizer.encode(text, { add_special_tokens: false }).ids;

Deno.test("loadRecordedRows() brings the recorded questions, without the one that lost an answer", () => {
  assert.equal(pool.questions.length, 1481);
  const sizes = (["train", "dev", "test"] as const).map((split) =>
    environment.problems(split).length
  );
  assert.equal(sizes.reduce((a, b) => a + b), 1481);
  assert.ok(sizes[0]! > 1100 && sizes[1]! > 120 && sizes[2]! > 120, String(sizes));
});

Deno.test("the recorded verdicts give the source's published accuracies", () => {
  const accuracy = (name: string) =>
    pool.questions.filter(({ answers }) => answers.get(name)!.correct).length / 1481;
  const rounded = Object.fromEntries(
    pool.candidates.map(({ name }) => [name, accuracy(name).toFixed(2)]),
  );
  assert.deepEqual(rounded, {
    "dpr+fid": "0.71",
    "gpt-3.5": "0.66",
    "chatgpt-3.5": "0.73",
    "chatgpt-4": "0.79",
    "bing-chat": "0.81",
  });
  const cascaded = pool.questions.filter(({ answers }) => {
    const [first, check] = [answers.get("dpr+fid")!, answers.get("chatgpt-3.5")!];
    return (containsAnswer(check.text, first.text) ? check : answers.get("bing-chat")!).correct;
  });
  assert.equal((cascaded.length / 1481).toFixed(3), "0.824");
});

Deno.test("the recorded token counts are those of the pool's tokenizer", () => {
  for (const { question, tokens, answers } of pool.questions.slice(0, 100)) {
    assert.equal(encode(question).length, tokens, question);
    for (const { text, tokens } of answers.values()) assert.equal(encode(text).length, tokens);
  }
});

Deno.test("the tokenizer has one token for each piece of an action, and reads back what it wrote", () => {
  const turn = '<route model="bing-chat"/>';
  assert.equal(encode(turn).length, 3);
  assert.equal(encode('<answer from="2"/>').length, 3);
  for (const problem of environment.problems("train").slice(0, 50)) {
    const prompt = holdfastProtocol.prompt(problem);
    const ids = encode(prompt);
    assert.equal(tokenizer.decode(ids, { skip_special_tokens: false }), prompt);
    assert.ok(ids.length <= 48, prompt);
  }
});

Deno.test("loadRecordedRows() says which file is missing", async () => {
  await assert.rejects(loadRecordedRows("pools/none.json"), {
    name: "InvalidConfigError",
    message: /none\.json.*correct the path in pool\.replay/,
  });
});
