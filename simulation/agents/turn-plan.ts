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
  /** `nothing`: it stops without having said anything; `never`: it hangs. */
  end: "answer" | "error" | "nothing" | "never";
}

const STEP_MS = 90_000;

export function planTurn(random: Random): TurnPlan {
  const count = random.whole(0, 4);
  const kind = random.next();
  return {
    takeMs: random.delay(random.chance(0.05) ? 18_000 : 2_000),
    steps: Array.from({ length: count }, () => planStep(random)),
    endMs: random.delay(STEP_MS),
    end: kind < 0.84 ? "answer" : kind < 0.92 ? "error" : kind < 0.97 ? "nothing" : "never",
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
