/**
 * `deno task crash`: the quickstart undisturbed, then killed with −9 as a whole at random instants, then
 * with its candidates away for a while; says whether all ended the same and what was paid. Arguments:
 * [PRESET] [--kills N] [--seed N] [--spread S] [--outage S].
 * @module
 */
import process from "node:process";
import { parseArgs } from "node:util";
import {
  assertEqualRuns,
  assertPaidOnce,
  killTimes,
  runKilled,
  runWithOutage,
  withStateDir,
} from "../_support/campaign.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    kills: { type: "string", default: "5" },
    seed: { type: "string", default: "1" },
    spread: { type: "string", default: "30" },
    outage: { type: "string", default: "60" },
  },
});
const words = positionals.length === 0 ? ["quickstart"] : positionals;
const say = (line: string) => void process.stdout.write(line + "\n");

say(`${words.join(" ")}, undisturbed …`);
const calm = await withStateDir((dir) => runKilled(dir, words, []));
say(`  ${calm.wallS.toFixed(1)} s, weights ${calm.trace.summary.weights_sha256}`);
const times = killTimes(Number(values.seed), Number(values.kills), Number(values.spread));
say(
  `${words.join(" ")}, killed at ${
    times.map((t) => t.toFixed(1)).join(", ")
  } s after work resumed …`,
);
const killed = await withStateDir((dir) =>
  runKilled(dir, words, times, (line) => say(`  ${line}`))
);
const { ledger, weights_sha256 } = killed.trace.summary;
say(`  ${killed.wallS.toFixed(1)} s, weights ${weights_sha256}`);
say(
  `  ledger: ${ledger.calls} calls, ${ledger.repaid} repaid, ${ledger.lost} lost; bill: ${killed.bill.lines} lines`,
);
assertEqualRuns(calm, killed);
assertPaidOnce(killed);
say(`${words.join(" ")}, candidates away for ${values.outage} s …`);
const away = await withStateDir((dir) => runWithOutage(dir, words, Number(values.outage)));
say(`  ${away.wallS.toFixed(1)} s, weights ${away.trace.summary.weights_sha256}`);
assertEqualRuns(calm, away);
assertPaidOnce(away);
say("equal: weights, metrics and table; nothing paid twice");
