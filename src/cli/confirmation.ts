/** Asks a person at a terminal whether to go on. Decides nothing for those who are not there. */
import { createInterface } from "node:readline/promises";
import type { Invocation } from "./command.ts";

/** Whether somebody can be asked. */
export function isAskable({ screen }: Pick<Invocation, "screen">): boolean {
  return !screen.json && screen.isTerminal && process.stdin.isTTY === true;
}

/** True only for a yes. */
export async function isConfirmed(
  { screen, signal }: Pick<Invocation, "screen" | "signal">,
  question: string,
): Promise<boolean> {
  await screen.flush();
  const asking = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^y(es)?$/i.test((await asking.question(`${question} [y/N] `, { signal })).trim());
  } finally {
    asking.close();
  }
}
