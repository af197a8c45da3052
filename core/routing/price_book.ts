import { z } from "zod";
import { InvalidConfigError } from "../errors.ts";
import type { Price } from "./candidates.ts";

const usdPerMillion = z.number().min(0).max(1e6);

const PriceBook = z.strictObject({
  /** The date the prices were read, `YYYY-MM-DD`. */
  version: z.string().regex(/^\d{4}-\d{2}-\d{2}$/),
  /** Where they were read, and what to know about them. */
  note: z.string().optional(),
  models: z.record(
    z.string(),
    z.strictObject({
      prompt_usd_per_million: usdPerMillion,
      completion_usd_per_million: usdPerMillion,
    }),
  ),
});

/** Prices by model from a dated price file (parsed JSON); throws InvalidConfigError on another shape. */
export function parsePriceBook(value: unknown): Map<string, Price> {
  const parsed = PriceBook.safeParse(value);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    throw new InvalidConfigError(
      `Cannot read the price book: ${
        issue?.path.join(".") || "it"
      } is wrong (${issue?.message}); ` +
        `give {"version": "YYYY-MM-DD", "models": {NAME: {"prompt_usd_per_million": …, ` +
        `"completion_usd_per_million": …}}}`,
    );
  }
  const { version, models } = parsed.data;
  return new Map(
    Object.entries(models).map(([model, price]) => [model, {
      // $1 per 10⁶ tokens is 10⁻⁶ $ = 10⁶ pico a token
      promptPico: wholePico(model, price.prompt_usd_per_million * 1e6),
      completionPico: wholePico(model, price.completion_usd_per_million * 1e6),
      version,
    }]),
  );
}

function wholePico(model: string, pico: number): number {
  const whole = Math.round(pico);
  if (Math.abs(pico - whole) < 1e-4) return whole;
  throw new InvalidConfigError(
    `Cannot read the price book: a price of "${model}" is ${pico / 1e6} $ per million tokens; ` +
      `give at most 6 decimals`,
  );
}
