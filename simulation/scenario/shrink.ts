/**
 * Makes a failing seed shorter: leaves out kinds of faults and actions as long as it still fails in the same way. The
 * result replays exactly, with `--calm` and `--without`.
 */
import { FAULTS } from "../world/faults.ts";
import type { Played, PlayOptions } from "./play.ts";

export interface Shrunk {
  calm: Set<string>;
  without: Set<number>;
  played: Played;
}

/** `play` is tried about a hundred times. */
export async function shrink(
  options: PlayOptions,
  first: Played,
  play: (options: PlayOptions) => Promise<Played>,
): Promise<Shrunk> {
  const kind = kindOf(first);
  let calm = new Set<string>(options.calm);
  let without = new Set<number>(options.without);
  let played = first;
  const stillFails = async (candidate: PlayOptions) => {
    const result = await play(candidate);
    if (kindOf(result) !== kind) return false;
    played = result;
    return true;
  };
  for (const fault of Object.keys(FAULTS)) {
    const calmer = new Set([...calm, fault]);
    if (!calm.has(fault) && (await stillFails({ ...options, calm: calmer, without }))) calm = calmer;
  }
  for (let size = Math.ceil(first.actions / 2); size >= 1; size = Math.floor(size / 2)) {
    for (let from = 0; from < first.actions; from += size) {
      const fewer = new Set(without);
      for (let index = from; index < Math.min(first.actions, from + size); index++) fewer.add(index);
      if (fewer.size > without.size && (await stillFails({ ...options, calm, without: fewer }))) without = fewer;
    }
  }
  return { calm, without, played };
}

/** The first violation without its ids. */
function kindOf({ violations }: Played): string {
  return kindOfViolation(violations[0] ?? "");
}

/** The words of a violation without its ids and figures. */
export function kindOfViolation(violation: string): string {
  return violation.replaceAll(/\w*\d\w*/g, "…");
}
