/**
 * Formats counts, tokens and cost for people. Pure.
 */
import type { BackgroundTask } from "../../../src/protocol/tasks.ts";

export type Tokens = BackgroundTask["progress"]["tokens"];

const plain = new Intl.NumberFormat("en");
const compact = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });

export function countText(count: number): string {
  return plain.format(count);
}

export function compactText(count: number): string {
  return compact.format(count);
}

/** "1 task", "2 tasks". */
export function counted(count: number, noun: string): string {
  return `${plain.format(count)} ${noun}${count === 1 ? "" : "s"}`;
}

export function costText(dollars: number): string {
  if (dollars > 0 && dollars < 0.01) return "<$0.01";
  return dollars < 1000 ? `$${dollars.toFixed(2)}` : `$${plain.format(Math.round(dollars))}`;
}

/** Newly read and written tokens; cached ones cost little and would hide the rest. */
export function totalTokens({ input, output, reasoning }: Tokens): number {
  return input + output + reasoning;
}

export function tokensTitle(tokens: Tokens): string {
  const names = [
    ["input", tokens.input],
    ["output", tokens.output],
    ["reasoning", tokens.reasoning],
    ["cache read", tokens.cacheRead],
    ["cache write", tokens.cacheWrite],
  ] as const;
  return names.map(([name, value]) => `${name} ${countText(value)}`).join(", ");
}
