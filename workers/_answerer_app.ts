import { createHash } from "node:crypto";
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { type Context, Hono } from "hono";
import { z } from "zod";
import { WorldConfig } from "../configs/world.ts";
import { priceOf } from "../core/routing/mod.ts";
import { canonicalJson } from "../core/storage/mod.ts";
import { answerQuestion, buildWorld, countUsage, type World } from "../core/world/mod.ts";
import { type Bill, openBill } from "./_answerer_bill.ts";
import { createFaultPanel, Fault } from "./_answerer_faults.ts";

const ChatRequest = z.object({
  model: z.string(),
  messages: z.array(z.object({ role: z.string(), content: z.string() })).min(1),
  max_tokens: z.int().min(1).optional(),
});

/** A running server of answerers. */
export interface Answerers {
  readonly url: string;
  stop(): Promise<void>;
}

/** Serves every world registered with it, under `/worlds/{id}/v1`, on loopback. */
export function startAnswerers(
  { port, bill: billFile }: { port: number; bill: string },
): Answerers {
  const bill = openBill(billFile);
  const worlds = openWorlds(`${billFile}.worlds.json`);
  const faults = createFaultPanel();
  const app = new Hono();
  let listening = listen(port);
  const url = `http://127.0.0.1:${listening.server.addr.port}`;

  function listen(at: number) {
    const close = new AbortController();
    const server = Deno.serve(
      { hostname: "127.0.0.1", port: at, onListen: () => {}, signal: close.signal },
      app.fetch,
    );
    return { server, close };
  }
  /** Cuts every connection, hanging ones too. */
  const stop = async () => {
    listening.close.abort();
    await listening.server.finished;
  };
  const refuse = async (forMs: number) => {
    await new Promise((resolve) => setTimeout(resolve, 20)); // the panel's own answer goes out
    await stop();
    setTimeout(() => listening = listen(Number(new URL(url).port)), forMs);
  };

  app.get("/health", (c) => c.json({ status: "ok" }));
  app.get("/admin/bill", (c) => c.json(bill.totals()));
  app.delete("/admin/faults", (c) => {
    faults.clear();
    return c.json({});
  });
  app.post("/admin/faults", async (c) => {
    const fault = Fault.safeParse(await c.req.json().catch(() => null));
    if (!fault.success) return invalid(c, z.prettifyError(fault.error));
    faults.set(fault.data);
    if (fault.data.kind === "refuse") void refuse(fault.data.for_s! * 1000);
    return c.json({});
  });
  app.post("/worlds", async (c) => {
    const config = WorldConfig.safeParse(await c.req.json().catch(() => null));
    if (!config.success) return invalid(c, z.prettifyError(config.error));
    return c.json({ id: worlds.add(config.data) });
  });
  app.get("/worlds/:id/v1/models", (c) => {
    const world = worlds.get(c.req.param("id"));
    if (world === null) return unknownWorld(c);
    const data = [...world.specialists.keys()].map((id) => ({
      id,
      object: "model",
      owned_by: "world",
    }));
    return c.json({ object: "list", data });
  });
  app.post("/worlds/:id/v1/chat/completions", async (c) => {
    const world = worlds.get(c.req.param("id"));
    if (world === null) return unknownWorld(c);
    const body = ChatRequest.safeParse(await c.req.json().catch(() => null));
    if (!body.success) return invalid(c, z.prettifyError(body.error));
    const { model } = body.data;
    const fault = faults.next(model);
    if (fault !== null) return await fail(fault);
    return complete(world, bill, body.data, c);
  });
  return {
    url,
    stop: async () => {
      await stop();
      bill.close();
    },
  };
}

/** Answers, billed before the answer leaves. */
function complete(world: World, bill: Bill, body: z.infer<typeof ChatRequest>, c: Context) {
  const candidate = world.specialists.get(body.model)?.candidate;
  if (candidate === undefined) {
    return c.json({
      error: { message: `no model ${JSON.stringify(body.model)}`, code: "model_not_found" },
    }, 404);
  }
  const question = body.messages.at(-1)!.content;
  const whole = answerQuestion(world, candidate.name, question).text;
  const words = whole.split(" ");
  const content = words.slice(0, body.max_tokens ?? words.length).join(" ");
  const usage = countUsage(body.messages.map((message) => message.content), content);
  bill.add({
    attempt: c.req.header("idempotency-key") ?? "",
    model: candidate.name,
    prompt_tokens: usage.promptTokens,
    completion_tokens: usage.completionTokens,
    cost_pico: priceOf(candidate.price, usage),
  });
  return c.json({
    id: `chatcmpl-${
      createHash("sha256").update(`${body.model}\n${question}`).digest("hex").slice(0, 24)
    }`,
    object: "chat.completion",
    created: 0, // a reply is a function of world and request, never of time
    model: candidate.name,
    choices: [{
      index: 0,
      message: { role: "assistant", content },
      finish_reason: content === whole ? "stop" : "length",
    }],
    usage: {
      prompt_tokens: usage.promptTokens,
      completion_tokens: usage.completionTokens,
      total_tokens: usage.promptTokens + usage.completionTokens,
    },
  });
}

/** A fault's answer; nothing is billed for it. */
async function fail(fault: Fault): Promise<Response> {
  const error = (message: string) => JSON.stringify({ error: { message } });
  const json = { "content-type": "application/json" };
  switch (fault.kind) {
    case "rate_limit":
      return new Response(error("slow down"), {
        status: 429,
        headers: { ...json, "retry-after": String(fault.retry_after_s) },
      });
    case "server_error":
      return new Response(error("broken"), { status: 500, headers: json });
    case "hang":
      return await new Promise(() => {});
    case "garbage":
      return new Response("<html>}{", { headers: json });
    case "cut_body":
      return new Response(cutBody(), { headers: json });
    case "refuse":
      throw new Error("Cannot answer with a refused connection: nobody listens then");
  }
}

/** Half a reply, then a broken connection. */
function cutBody(): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start: (controller) => {
      controller.enqueue(new TextEncoder().encode('{"id":"chatcmpl-0","choices":[{"mess'));
      setTimeout(() => controller.error(new Error("cut")), 10);
    },
  });
}

function invalid(c: Context, message: string) {
  return c.json({ error: { message } }, 400);
}

function unknownWorld(c: Context) {
  return c.json(
    { error: { message: `no world ${c.req.param("id")}: register it at /worlds` } },
    404,
  );
}

/** The worlds this server knows, kept in a file so that a restart knows them too. */
function openWorlds(file: string) {
  const configs: Record<string, WorldConfig> = existsSync(file)
    ? JSON.parse(readFileSync(file, "utf8"))
    : {};
  const built = new Map<string, World>();
  return {
    add: (config: WorldConfig): string => {
      const id = createHash("sha256").update(canonicalJson(config)).digest("hex").slice(0, 16);
      if (configs[id] === undefined) {
        configs[id] = config;
        writeFileSync(`${file}.tmp`, JSON.stringify(configs));
        renameSync(`${file}.tmp`, file);
      }
      return id;
    },
    get: (id: string): World | null => {
      const config = configs[id];
      if (config === undefined) return null;
      const known = built.get(id) ?? buildWorld(config);
      built.set(id, known);
      return known;
    },
  };
}
