/**
 * What tokens cost, for models whose host does not say. Pure. Prices are dollars per million tokens. A model without a
 * price has none: its tokens are counted as unpriced, never as free. The listed prices are those that the Claude CLI
 * 2.1.325 has built in.
 */
import type { Tokens } from "../progress.ts";

export interface ModelPrice {
  input: number;
  output: number;
  /** As input when absent. */
  cacheRead?: number | undefined;
  cacheWrite?: number | undefined;
}

/** By the model's name, with or without its provider. */
export type Prices = Readonly<Record<string, ModelPrice>>;

const MILLION = 1_000_000;

/** List prices of Claude models, by the beginning of their names; the longest that fits counts. */
const KNOWN: Prices = {
  "claude-3-5-haiku": listed(0.8, 4, 0.08),
  "claude-haiku-4-5": listed(1, 5, 0.1),
  "claude-haiku-5-5": listed(0.1, 0.5, 0.01),
  "claude-3-5-sonnet": listed(3, 15, 0.3),
  "claude-3-7-sonnet": listed(3, 15, 0.3),
  "claude-sonnet-4": listed(3, 15, 0.3),
  "claude-sonnet-5": listed(2, 10, 0.2),
  "claude-sonnet-5-5": listed(2, 10, 0.1),
  "claude-opus-4": listed(15, 75, 1.5),
  "claude-opus-4-5": listed(5, 25, 0.5),
  "claude-opus-4-6": listed(5, 25, 0.5),
  "claude-opus-4-7": listed(5, 25, 0.5),
  "claude-opus-4-8": listed(5, 25, 0.5),
  "claude-opus-5": listed(5, 25, 0.5),
  "claude-opus-5-5": listed(4, 20, 0.2),
  "claude-fable-5": listed(10, 50, 1),
  "claude-fable-5-1": listed(10, 50, 0.25),
  "claude-fable-5-2": listed(8, 40, 0.2),
  "claude-mythos-5": listed(10, 50, 1),
  "claude-mythos-5-1": listed(10, 50, 0.25),
  "claude-mythos-5-2": listed(8, 40, 0.2),
};

/** Writing to the cache costs a quarter more than reading the same tokens without one. */
function listed(input: number, output: number, cacheRead: number): ModelPrice {
  return { input, output, cacheRead, cacheWrite: input * 1.25 };
}

/** What tokens of a model cost; null if nobody said. `own` comes before the known list prices. */
export function priceOf(model: string, own: Prices): ModelPrice | null {
  const name = model.slice(model.indexOf("/") + 1);
  for (const key of [model, name]) if (Object.hasOwn(own, key)) return own[key] ?? null;
  const known = Object.keys(KNOWN).filter((beginning) => name.startsWith(beginning));
  const longest = known.sort((one, other) => other.length - one.length)[0];
  return longest === undefined ? null : (KNOWN[longest] ?? null);
}

/** Reasoning is paid as output. */
export function costOf(tokens: Tokens, price: ModelPrice): number {
  const { input, output, reasoning, cacheRead, cacheWrite } = tokens;
  const cost =
    input * price.input +
    (output + reasoning) * price.output +
    cacheRead * (price.cacheRead ?? price.input) +
    cacheWrite * (price.cacheWrite ?? price.input);
  return cost / MILLION;
}
