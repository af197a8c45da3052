import assert from "node:assert/strict";
import { LOSSES } from "../../../core/algorithms/mod.ts";
import { gradients, GraphBuilder } from "../../../core/graph/mod.ts";
import { LOSS_INPUTS, type LossInputs } from "../../../core/policy/mod.ts";
import { type Fed, runGraph } from "../../_support/onnx.ts";

type Column = Exclude<keyof LossInputs, "hyper">;
type Numbers = Partial<Record<(typeof LOSS_INPUTS)[number], number>>;

const COLUMNS: readonly Column[] = [
  "logProbs",
  "entropy",
  "mask",
  "advantages",
  "oldLogProbs",
  "refLogProbs",
];

/** Loss, sums and the loss's slope along each log-prob, for one row of tokens. */
async function evaluate(
  type: keyof typeof LOSSES,
  columns: Partial<Record<Column, readonly number[]>> & { readonly mask: readonly number[] },
  numbers: Numbers,
) {
  const g = new GraphBuilder("loss");
  const shape = [1, columns.mask.length];
  const feeds: Record<string, Fed> = {};
  const entry = (name: string, data: readonly number[], shape: readonly number[]) => {
    feeds[name] = { data, shape };
    return [name, g.input(name, shape)] as const;
  };
  const zeros = columns.mask.map(() => 0);
  const inputs = Object.fromEntries(
    COLUMNS.map((name) => entry(name, columns[name] ?? zeros, shape)),
  ) as unknown as Omit<LossInputs, "hyper">;
  const hyper = Object.fromEntries(
    LOSS_INPUTS.map((name) => entry(name, [numbers[name] ?? 0], [])),
  ) as LossInputs["hyper"];
  const { loss, sums } = LOSSES[type](g, { ...inputs, hyper });
  g.output(loss, "sum/loss");
  for (const [name, sum] of Object.entries(sums)) g.output(sum, `sum/${name}`);
  g.output(gradients(g, loss, [inputs.logProbs])[0]!, "slope");
  return await runGraph(g.build(), feeds);
}

function assertClose(got: ArrayLike<number>, want: readonly number[]): void {
  const text = `[${Array.from(got)}] is not [${want}]`;
  assert.equal(got.length, want.length, text);
  want.forEach((x, i) => assert.ok(Math.abs(got[i]! - x) < 2e-6 * Math.max(1, Math.abs(x)), text));
}

const LN2 = Math.LN2;
const CLIP = { clipRatioLow: 0.2, clipRatioHigh: 0.28 };

Deno.test("sft is the mean cross-entropy over the step's tokens", async () => {
  const columns = { logProbs: [-1, -2, -4], mask: [1, 0, 1] };
  const out = await evaluate("sft", columns, { invTokens: 1 / 2 });
  assertClose(out["sum/loss"]!, [2.5]);
  assertClose(out["slope"]!, [-0.5, 0, -0.5]);
});

Deno.test("ppo_clip stops a ratio that went far enough, and only in that direction", async () => {
  // ratios 2, 1/2, 2, 1/2 and 1.25 (inside the higher bound); advantages 1, −1, −1, 1, 1
  const out = await evaluate("ppo_clip", {
    logProbs: [LN2, -LN2, LN2, -LN2, Math.log(1.25)],
    advantages: [1, -1, -1, 1, 1],
    mask: [1, 1, 1, 1, 1],
  }, { invTokens: 1, ...CLIP });
  assertClose(out["sum/pg_loss"]!, [-1.28 + 0.8 + 2 - 0.5 - 1.25]);
  assertClose(out["sum/loss"]!, [-0.23]);
  assertClose(out["slope"]!, [0, 0, 2, -0.5, -1.25]);
  assertClose(out["sum/pg_clipfrac"]!, [2]);
  assertClose(out["sum/ppo_kl"]!, [-Math.log(1.25)]);
});

Deno.test("ppo_clip at ratio 1 is the plain policy gradient", async () => {
  const out = await evaluate("ppo_clip", {
    logProbs: [-3, -1],
    oldLogProbs: [-3, -1],
    advantages: [2, -1],
    mask: [1, 1],
  }, { invTokens: 1 / 2, ...CLIP });
  assertClose(out["slope"]!, [-1, 0.5]);
  assertClose(out["sum/pg_clipfrac"]!, [0]);
});

Deno.test("ppo_clip subtracts the entropy and adds k3", async () => {
  // d = ln 2 and −ln 2: k3 = 2 − ln 2 − 1 and 1/2 + ln 2 − 1, whose slope along logp is 1 − e^d
  const out = await evaluate("ppo_clip", {
    logProbs: [-1, -1],
    oldLogProbs: [-1, -1],
    refLogProbs: [-1 + LN2, -1 - LN2],
    entropy: [3, 1],
    mask: [1, 1],
  }, { invTokens: 1 / 2, ...CLIP, entropyCoeff: 0.1, klLossCoef: 0.5 });
  assertClose(out["sum/entropy"]!, [4]);
  assertClose(out["sum/kl_loss"]!, [0.5]);
  assertClose(out["sum/loss"]!, [(-0.1 * 4 + 0.5 * 0.5) / 2]);
  assertClose(out["slope"]!, [-0.25, 0.125]);
});

Deno.test("ppo_clip clamps k3 to 10, where it has no slope, and log-ratios to 20", async () => {
  const out = await evaluate("ppo_clip", {
    logProbs: [-30, -50],
    oldLogProbs: [-30, 0],
    refLogProbs: [0, -50],
    advantages: [0, -1],
    mask: [1, 1],
  }, { invTokens: 1, ...CLIP, klLossCoef: 1 });
  assertClose(out["sum/kl_loss"]!, [10]);
  assertClose(out["sum/pg_loss"]!, [0.8]);
  assertClose(out["slope"]!, [0, 0]);
});

Deno.test("a masked token contributes nothing, even if its numbers are NaN", async () => {
  const clean = { logProbs: [-1], oldLogProbs: [-1.1], refLogProbs: [-2], advantages: [1] };
  const numbers = { invTokens: 1, ...CLIP, entropyCoeff: 0.1, klLossCoef: 0.1 };
  const alone = await evaluate("ppo_clip", { ...clean, entropy: [2], mask: [1] }, numbers);
  const dirty = await evaluate("ppo_clip", {
    logProbs: [-1, -7],
    oldLogProbs: [-1.1, NaN],
    refLogProbs: [-2, Infinity],
    advantages: [1, NaN],
    entropy: [2, NaN],
    mask: [1, 0],
  }, numbers);
  for (const name of Object.keys(alone).filter((name) => name !== "slope")) {
    assert.deepEqual(dirty[name], alone[name], name);
  }
  assert.deepEqual([...dirty["slope"]!], [alone["slope"]![0], 0]);
});

Deno.test("a fully masked batch has loss 0 and slope 0", async () => {
  for (const type of ["sft", "ppo_clip"] as const) {
    const out = await evaluate(type, {
      logProbs: [-1, -2],
      advantages: [1, NaN],
      mask: [0, 0],
    }, { ...CLIP, entropyCoeff: 0.1 });
    assert.equal(Math.abs(out["sum/loss"]![0]!), 0, type);
    assert.deepEqual([...out["slope"]!].map(Math.abs), [0, 0], type);
  }
});
