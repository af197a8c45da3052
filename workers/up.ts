/**
 * `deno task up`: server and workers, for use from the Temporal UI. Ctrl-C stops them; nothing is lost.
 * @module
 */
import process from "node:process";
import { runTask } from "./_options.ts";
import { startStack, stateDirectory } from "./stack.ts";

await runTask(async () => {
  const say = (words: string) => void process.stderr.write(words + "\n");
  const stack = await startStack({ stateDir: await stateDirectory(), say });
  const form =
    "/namespaces/default/workflows/start-workflow?taskQueue=holdfast&workflowType=trainRouter";
  if (stack.uiUrl !== null) {
    say(`Temporal UI:  ${stack.uiUrl}`);
    say(`Start a run:  ${stack.uiUrl}${form}   with the input {"preset":"quickstart"}`);
  }
  say(`Temporal CLI: --address ${stack.address}`);
  say("Ready. Ctrl-C stops server and workers; runs go on from where they are at the next start.");
  await new Promise<void>((resolve) => {
    Deno.addSignalListener("SIGINT", () => resolve());
    Deno.addSignalListener("SIGTERM", () => resolve());
  });
  await stack.stop();
});
