/// <reference lib="deno.worker" />
import { createLocalEngine, type EngineMethods } from "./_local_engine.ts";
import { type EngineCall, type Request, type Response, sendError } from "./_messages.ts";

/** The thread of one engine: requests are served one after another. */
function serve(): void {
  let engine: EngineMethods | null = null;
  let before = Promise.resolve();
  const answer = (response: Response) => self.postMessage(response);

  const perform = async (call: EngineCall, progress: (done: number) => void): Promise<unknown> => {
    if (call.method === "start") {
      engine = createLocalEngine(call.args[0]);
      return;
    }
    if (engine === null) throw new Error("the engine was not started");
    if (call.method === "learnMany") return await engine.learnMany(...call.args, progress);
    const method = engine[call.method] as (...args: readonly unknown[]) => Promise<unknown>;
    return await method(...call.args);
  };

  self.onmessage = ({ data: { id, ...call } }: MessageEvent<Request>) => {
    before = before
      .then(() => perform(call as EngineCall, (done) => answer({ id, type: "progress", done })))
      .then((value) => answer({ id, type: "result", value }))
      .catch((error) => answer({ id, type: "error", error: sendError(error) }));
  };
}

serve();
