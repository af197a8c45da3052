import { defineSignal } from "@temporalio/workflow";
import type { Wait } from "../core/plan/run.ts";

export const pause = defineSignal("pause");
export const resume = defineSignal("resume");
export const stop = defineSignal("stop");

/** A shard tells the run what it waits for, and null when it goes on. */
export const noteWait = defineSignal<[{ id: string; wait: Wait | null }]>("noteWait");
