/**
 * The newest ids of something that is reported more than once, as a value of bounded size, for runs without end. Adding
 * one copies a portion, not all of them. Whatever is reported again counts as new. Pure.
 */

/** Newest first. */
export type RecentIds = readonly ReadonlySet<string>[];

const PORTION = 100;
const MOST_PORTIONS = 20;
/** So many are known for certain; the rest of the oldest portion is dropped at once. */
export const IDS_KEPT = PORTION * (MOST_PORTIONS - 1);

export const NO_IDS: RecentIds = [];

export function isRecent(ids: RecentIds, id: string): boolean {
  return ids.some((portion) => portion.has(id));
}

export function withRecent(ids: RecentIds, added: Iterable<string>): RecentIds {
  let all = ids;
  for (const id of added) {
    const [newest = new Set<string>(), ...older] = all;
    if (newest.has(id)) continue;
    const isFull = newest.size >= PORTION;
    all = isFull ? [new Set([id]), ...all].slice(0, MOST_PORTIONS) : [new Set(newest).add(id), ...older];
  }
  return all;
}
