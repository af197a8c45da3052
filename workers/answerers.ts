/**
 * The local answerers: an OpenAI-compatible server of generated worlds, a process of its own with its own
 * durable bill and a fault panel. Arguments: --port N --bill FILE.
 * @module
 */
import process from "node:process";
import { parseArgs } from "node:util";
import { exitWithParent } from "../adapters/processes/supervisor.ts";
import { startAnswerers } from "./_answerer_app.ts";

const { values } = parseArgs({ options: { port: { type: "string" }, bill: { type: "string" } } });
exitWithParent();
startAnswerers({ port: Number(values.port), bill: values.bill! });
process.on("SIGTERM", () => process.exit(0));
