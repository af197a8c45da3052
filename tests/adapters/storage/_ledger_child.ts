/**
 * A process of its own on a ledger: `hammer PATH MAX_PICO MAX_CALLS` opens and settles calls until the
 * budget refuses, and prints the highest spending it saw; `hang PATH` opens k0…k4, settles the first two,
 * says so and waits to be killed.
 */
import { createLedger } from "../../../adapters/storage/ledger.ts";
import { answerOf, intentOf, NO_LIMITS } from "./_intents.ts";

const [task, path, maxPico, maxCalls] = Deno.args;
const ledger = createLedger(path!);

if (task === "hang") {
  const { open } = ledger.begin([0, 1, 2, 3, 4].map((i) => intentOf(`k${i}`)), NO_LIMITS);
  ledger.settle(open.slice(0, 2).map((attempt) => answerOf(attempt)));
  await Deno.stdout.write(new TextEncoder().encode("ready\n"));
  await new Promise((resolve) => setTimeout(resolve, 60_000));
} else {
  const limits = { maxPico: Number(maxPico), maxCalls: Number(maxCalls) };
  let mostPico = 0;
  let mostCalls = 0;
  let sent = 0;
  for (let i = 0; i < 1000; i += 3) {
    const intents = [i, i + 1, i + 2].map((n) => intentOf(`${Deno.pid}/${n}`));
    const { open, refused } = ledger.begin(intents, limits);
    const spend = ledger.spend("run");
    mostPico = Math.max(mostPico, spend.costPico + spend.reservedPico);
    mostCalls = Math.max(mostCalls, spend.calls + spend.open);
    sent += open.length;
    ledger.settle(open.map((attempt) => answerOf(attempt)));
    if (refused.length > 0 && ledger.spend("run").open === 0) break;
  }
  ledger.close();
  await Deno.stdout.write(new TextEncoder().encode(JSON.stringify({ mostPico, mostCalls, sent })));
}
