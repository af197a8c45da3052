import assert from "node:assert/strict";
import plugin from "./_lint/workflow_rules.ts";

/** The rules that fire, in order. */
function fired(source: string, file = "/project/workflows/some.ts"): string[] {
  return Deno.lint.runPlugin(plugin, file, source).map(({ id }) => id);
}

const BANNED: Record<string, readonly string[]> = {
  "workflow/no-native-temporal": [
    "const now = Temporal.Now.instant();",
    "const now = globalThis.Temporal.Now.instant();",
    "const { Temporal } = globalThis;",
  ],
  "workflow/no-ambient-intl": [
    "const text = new Intl.DateTimeFormat('en', { timeZone: 'UTC' }).format();",
    "const format = new Intl.NumberFormat();",
    "const zone = Intl.DateTimeFormat();",
    "const text = new Date(0).toLocaleString();",
  ],
  "workflow/no-foreign-specifier": [
    "import { join } from 'node:path';",
    "import type { Buffer } from 'node:buffer';",
    "import ky from 'npm:ky@2';",
    "export { x } from 'jsr:@a/b';",
    "export * from 'https://example.org/x.ts';",
    "const fs = await import('node:fs');",
  ],
  "workflow/no-effect-value": [
    "import { createRunActivities } from '../activities/runs.ts';",
    "import { type A, b } from '../activities/runs.ts';",
    "import '../adapters/storage/ledger.ts';",
    "import * as all from '../adapters/storage/ledger.ts';",
    "export { b } from '../activities/runs.ts';",
    "export * from '../activities/runs.ts';",
  ],
};

for (const [rule, sources] of Object.entries(BANNED)) {
  Deno.test(`${rule} fires in workflows and in core/plan, not elsewhere`, () => {
    for (const source of sources) {
      assert.deepEqual([...new Set(fired(source))], [rule], source);
      assert.deepEqual([...new Set(fired(source, "/project/core/plan/x.ts"))], [rule], source);
      assert.deepEqual(fired(source, "/project/workers/x.ts"), [], source);
    }
  });
}

Deno.test("the workflow rules let pass what a workflow needs", () => {
  assert.deepEqual(
    fired(`
      import { proxyActivities, sleep } from "@temporalio/workflow";
      import type { RunActivities } from "../activities/runs.ts";
      import { type ActivityPorts } from "../activities/ports.ts";
      import { stepId } from "../core/plan/ids.ts";
      export type { RunActivities } from "../activities/runs.ts";
      const text = new Intl.NumberFormat("en").format(3) + new Date(0).toISOString();
    `),
    [],
  );
});
