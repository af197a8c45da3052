/** Text to ids and back. Never used on sampled tokens but to read them. */
export interface Tokenizer {
  readonly vocabularySize: number;
  readonly endOfText: number;
  encode(text: string): number[];
  decode(ids: readonly number[]): string;
}
