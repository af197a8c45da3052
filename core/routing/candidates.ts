/** A model of the pool, as the policy may route to it. */
export interface Candidate {
  /** The name the policy writes in `<route model="…">`. */
  readonly name: string;
  /** One line the policy or a reader may see. */
  readonly description: string;
  /** Whose bill it is. */
  readonly account: string;
  readonly price: Price;
}

/** Integer pico-dollars (10⁻¹² $) per token: 1 $ per million tokens is 1,000,000. */
export interface Price {
  readonly promptPico: number;
  readonly completionPico: number;
  /** Dated version of the price book entry. */
  readonly version: string;
}

/** What the given usage costs, in pico-dollars. */
export function priceOf(
  price: Price,
  usage: { promptTokens: number; completionTokens: number },
): number {
  return price.promptPico * usage.promptTokens + price.completionPico * usage.completionTokens;
}
