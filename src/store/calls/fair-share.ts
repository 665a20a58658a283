/**
 * Who gets a place among limited ones: anybody while there are some, and then those who have few. Whoever asks for much
 * uses what is free, and keeps nobody else out. Pure.
 */
interface Places {
  /** For everybody together. */
  most: number;
  /** What each caller may have beyond that. */
  each: number;
}

/** `taken`: who has the places that are taken, one entry for each. */
export function hasPlace(taken: readonly string[], caller: string, { most, each }: Places): boolean {
  return taken.length < most || taken.filter((by) => by === caller).length < each;
}
