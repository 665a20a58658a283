/**
 * What an agent does with one prompt, by seed: how long each step takes, what goes wrong, and how it ends. The same
 * prompt in the same seed is always answered alike.
 */
import type { Random } from "../time/random.ts";

export type TurnStep =
  | { does: "call"; ms: number; fails: boolean }
  | { does: "write"; ms: number }
  | { does: "retry"; ms: number; reason: string; count: number }
  | { does: "ask"; ms: number };

export interface TurnPlan {
  /** From the arrival of the prompt until the model is asked. */
  takeMs: number;
  steps: TurnStep[];
  /** From the last step to the end. */
  endMs: number;
  /**
   * `nothing`: it stops without having said anything; `never`: it hangs; `rejected`: it fails before the model is
   * asked, without a message and without going idle, as OpenCode does with an agent that it does not know; `refused`:
   * the provider says when it will be back.
   */
  end: "answer" | "error" | "refused" | "nothing" | "never" | "rejected";
  /** A person who stops it hears of it as an error too, or only that it is idle. */
  isAbortReported: boolean;
}

const STEP_MS = 90_000;
/** From this retry on, the provider says when it will be back, and the agent would wait for that. */
export const NAMED_RETRY = 4;
/** Longer than a host is left to wait by itself. */
export const RETURN_MS = 100_000;
const ENDS: readonly { below: number; end: TurnPlan["end"] }[] = [
  { below: 0.83, end: "answer" },
  { below: 0.88, end: "error" },
  { below: 0.91, end: "refused" },
  { below: 0.95, end: "nothing" },
  { below: 0.97, end: "rejected" },
];

export function planTurn(random: Random): TurnPlan {
  const count = random.whole(0, 4);
  const kind = random.next();
  return {
    takeMs: random.delay(random.chance(0.05) ? 18_000 : 2_000),
    steps: Array.from({ length: count }, () => planStep(random)),
    endMs: random.delay(STEP_MS),
    end: ENDS.find(({ below }) => kind < below)?.end ?? "never",
    isAbortReported: random.chance(0.5),
  };
}

function planStep(random: Random): TurnStep {
  const ms = random.delay(STEP_MS);
  const kind = random.next();
  if (kind < 0.45) return { does: "call", ms, fails: random.chance(0.1) };
  if (kind < 0.7) return { does: "write", ms };
  if (kind < 0.85) return { does: "retry", ms, reason: "the provider is overloaded", count: random.whole(1, 4) };
  return { does: "ask", ms };
}
