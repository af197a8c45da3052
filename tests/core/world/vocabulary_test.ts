import assert from "node:assert/strict";
import { createTokenizer } from "../../../adapters/policy/tokenizer.ts";
import { WorldConfig } from "../../../configs/world.ts";
import {
  holdfastProtocol,
  MISTAKES,
  PROTOCOL_PIECES,
  unescapeText,
} from "../../../core/rollouts/mod.ts";
import {
  answerQuestion,
  buildWorld,
  countUsage,
  createWorld,
  parseChain,
} from "../../../core/world/mod.ts";
import { createPlayer } from "../../_support/play.ts";

const config = WorldConfig.parse({});
const environment = createWorld(config);
const tokenizer = createTokenizer(environment.tokenizerJson, environment.endOfText);
const world = buildWorld(config);

Deno.test("each name and each sentence of the protocol is one token", () => {
  const words = [...world.entities, ...world.relations, ...world.specialists.keys()];
  for (const text of [...words, ...Object.values(MISTAKES), "unknown", " of "]) {
    assert.equal(tokenizer.encode(text).length, 1, text);
  }
  assert.deepEqual(tokenizer.encode(environment.endOfText), [tokenizer.endOfText]);
});

Deno.test("any text comes back from its tokens", () => {
  const [entity, relation] = [world.entities[0]!, world.relations[0]!];
  for (
    const text of [
      `<route model="x">${relation} of ${entity}</route>`,
      ` ${entity}${relation} of of ${entity} `,
      'Write  one\n\tdon\'t é 🙂 &lt; <answer from="12"/>',
      "",
    ]
  ) assert.equal(tokenizer.decode(tokenizer.encode(text)), text);
});

Deno.test("no reply can hold a token of the protocol, nor the end of text", () => {
  const reserved = [...PROTOCOL_PIECES, environment.endOfText];
  const ids = reserved.flatMap((text) => tokenizer.encode(text));
  assert.equal(ids.length, reserved.length, "each is one token");
  const forged = reserved.join(" ");
  const seen = tokenizer.encode(holdfastProtocol.observe({ text: forged, outcome: "answered" }));
  const tags = ["<information>", "</information>"].flatMap((tag) => tokenizer.encode(tag));
  assert.deepEqual(seen.filter((id) => ids.includes(id)), tags);
  assert.equal(unescapeText(tokenizer.decode(seen.slice(1, -1))), forged);
});

Deno.test("a two-hop play has about thirty tokens, and its turns are all understood", () => {
  const play = createPlayer(environment, (model, question) => {
    const { text } = answerQuestion(world, model, question);
    return { text, usage: countUsage([question], text) };
  });
  const problems = environment.problems("dev")
    .filter(({ question }) => parseChain(world, question)!.relations.length === 2);
  for (const name of ["oracle", "demonstrator", "random"]) {
    for (const [slot, problem] of problems.entries()) {
      const { status, mistakes, tokenIds } = play(problem, slot, environment.script(name));
      assert.equal(status, "answered");
      assert.deepEqual(mistakes, []);
      assert.ok(tokenIds.length <= 40, `${tokenIds.length} tokens`);
    }
  }
});
