import assert from "node:assert/strict";
import { adamW, globalNorm, GraphBuilder } from "../../../core/graph/mod.ts";
import { type Fed, runGraph } from "../../_support/onnx.ts";

/** Gradients of a matrix, then of a norm, at three steps. */
const GRADIENTS = [
  [[0.3, -0.4, 1.2, 0], [0.5, 0.1]],
  [[0.1, 0.2, -0.1, 0.05], [0.02, -0.03]],
  [[-3, 4, 0.5, 1], [2, -1]],
] as const;

/** `torch.optim.AdamW` in float64 after `clip_grad_norm_(…, 1)`: lr 0.05, betas 0.9 and 0.99, decay 0.1. */
const TORCH = {
  norms: [1.3964240043768943, 0.2525866188063018, 5.590169943749474],
  matrix: [0.4119204278174623, -0.9559801759294437, 1.8660750461429056, 0.1709906642866571],
  norm: [0.8723911399419952, -0.5423945017247893],
  m: [-0.02726404288236798, 0.06635205717649065, 0.06955058622051415, 0.022388540620009887],
  v: [0.0034313521679000623, 0.006320181631822334, 0.007416651143856855, 0.0003447498855133506],
};

Deno.test("adamW() and globalNorm() take PyTorch's steps", async () => {
  const g = new GraphBuilder("adamw");
  const number = (name: string) => g.input(name, []);
  const names = ["lr", "beta1", "beta2", "eps", "weightDecay", "correction1", "correction2"];
  const hyper = Object.fromEntries(names.map((name) => [name, number(name)]));
  const shapes = { w: [2, 2], n: [2] };
  const grads = Object.entries(shapes).map(([name, shape]) => g.input(`g${name}`, shape));
  const norm = globalNorm(g, grads);
  const scale = g.min(g.scalar(1), g.div(g.scalar(1), g.add(norm, g.scalar(1e-6))));
  g.output(norm, "norm");
  Object.entries(shapes).forEach(([name, shape], i) => {
    const next = adamW(g, {
      parameter: g.input(`p${name}`, shape),
      gradient: grads[i]!,
      m: g.input(`m${name}`, shape),
      v: g.input(`v${name}`, shape),
      hyper,
      scale,
      decayed: name === "w",
    });
    g.output(next.parameter, `p${name}.out`);
    g.output(next.m, `m${name}.out`);
    g.output(next.v, `v${name}.out`);
  });
  const model = g.build();

  const zeros = (shape: number[]): Fed => ({
    data: shape.length === 2 ? [0, 0, 0, 0] : [0, 0],
    shape,
  });
  let state: Record<string, Fed> = {
    pw: { data: [0.5, -1, 2, 0.25], shape: [2, 2] },
    pn: { data: [1, -0.5], shape: [2] },
    mw: zeros([2, 2]),
    vw: zeros([2, 2]),
    mn: zeros([2]),
    vn: zeros([2]),
  };
  for (const [i, [gw, gn]] of GRADIENTS.entries()) {
    const numbers = [0.05, 0.9, 0.99, 1e-8, 0.1, 1 - 0.9 ** (i + 1), 1 - 0.99 ** (i + 1)];
    const out = await runGraph(model, {
      ...state,
      gw: { data: gw, shape: [2, 2] },
      gn: { data: gn, shape: [2] },
      ...Object.fromEntries(names.map((name, k) => [name, { data: [numbers[k]!], shape: [] }])),
    });
    assertClose(out["norm"]!, [TORCH.norms[i]!]);
    state = Object.fromEntries(
      Object.entries(state).map((
        [name, { shape }],
      ) => [name, { data: out[`${name}.out`]!, shape }]),
    );
  }
  assertClose(state["pw"]!.data, TORCH.matrix);
  assertClose(state["pn"]!.data, TORCH.norm);
  assertClose(state["mw"]!.data, TORCH.m);
  assertClose(state["vw"]!.data, TORCH.v);
});

function assertClose(got: ArrayLike<number>, want: readonly number[]): void {
  want.forEach((x, i) =>
    assert.ok(Math.abs(got[i]! - x) <= 2e-5 * Math.abs(x), `[${Array.from(got)}] is not [${want}]`)
  );
}
