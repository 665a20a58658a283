/**
 * Makes a failing seed shorter: leaves out kinds of faults and planned moments, and ends the storm earlier, as long as
 * it still fails in the same way. The result replays exactly, with `--calm`, `--without` and `--storm`.
 */
import { FAULTS } from "../world/faults.ts";
import type { Played, PlayOptions } from "./play.ts";

/** What makes a seed shorter, to be added to its options. */
export type Shorter = Required<Pick<PlayOptions, "calm" | "without">> & Pick<PlayOptions, "stormMs">;

export interface Shrunk {
  shorter: Shorter;
  played: Played;
  /** How often it was played. */
  tries: number;
}

const STORM_SHARES = [0.1, 0.25, 0.5, 0.75, 0.9];
const LONGEST_STORM_MS = 5 * 60_000;
const SHORTEST_STORM_MS = 1_000;

/** `play` is tried about a hundred times. */
export async function shrink(
  options: PlayOptions,
  first: Played,
  play: (options: PlayOptions) => Promise<Played>,
): Promise<Shrunk> {
  const kind = kindOf(first);
  let shorter: Shorter = { calm: new Set(options.calm), without: new Set(options.without) };
  if (options.stormMs !== undefined) shorter.stormMs = options.stormMs;
  let played = first;
  let tries = 0;
  const attempt = async (change: Partial<Shorter>): Promise<boolean> => {
    tries++;
    const result = await play({ ...options, ...shorter, ...change });
    if (kindOf(result) !== kind) return false;
    shorter = { ...shorter, ...change };
    played = result;
    return true;
  };
  for (let before = -1; before !== sizeOf(shorter); ) {
    before = sizeOf(shorter);
    await endStormEarlier(() => shorter.stormMs ?? LONGEST_STORM_MS, attempt);
    for (const fault of Object.keys(FAULTS)) {
      if (!shorter.calm.has(fault)) await attempt({ calm: new Set([...shorter.calm, fault]) });
    }
    await leaveOut(first.planned, () => shorter.without, attempt);
  }
  return { shorter, played, tries };
}

async function endStormEarlier(
  stormMs: () => number,
  attempt: (change: Partial<Shorter>) => Promise<boolean>,
): Promise<void> {
  const attemptAny = async () => {
    for (const share of STORM_SHARES) if (await attempt({ stormMs: Math.ceil(stormMs() * share) })) return true;
    return false;
  };
  while (stormMs() > SHORTEST_STORM_MS && (await attemptAny()));
}

/** Large groups first, single moments last. */
async function leaveOut(
  planned: number,
  without: () => ReadonlySet<number>,
  attempt: (change: Partial<Shorter>) => Promise<boolean>,
): Promise<void> {
  for (let size = Math.ceil(planned / 2); size >= 1; size = Math.floor(size / 2)) {
    for (let from = 0; from < planned; from += size) {
      const fewer = new Set(without());
      for (let index = from; index < Math.min(planned, from + size); index++) fewer.add(index);
      if (fewer.size > without().size) await attempt({ without: fewer });
    }
  }
}

/** Counts what was left out: it grows until nothing more can be. */
function sizeOf({ calm, without, stormMs = LONGEST_STORM_MS }: Shorter): number {
  return calm.size + without.size - stormMs;
}

/** A violation without its ids: seeds that fail in the same way have the same one. */
export function kindOfViolation(violation: string): string {
  return violation.replaceAll(/\w*\d\w*/g, "…");
}

function kindOf({ violations }: Played): string {
  return kindOfViolation(violations[0] ?? "");
}
