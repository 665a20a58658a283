/**
 * Runs trials in interleaved pairs. Invariant: the order within a pair alternates, so that neither side always comes
 * first; warm-up pairs are discarded.
 */
import type { Side } from "./contenders.ts";

export interface PairOptions {
  pairs: number;
  warmUps: number;
  onProgress(line: string): void;
}

export async function interleavedPairs<T>(
  options: PairOptions,
  run: (side: Side, name: string) => Promise<T>,
  describe: (trial: T) => string,
): Promise<Record<Side, T>[]> {
  const pairs: Record<Side, T>[] = [];
  for (let index = -options.warmUps; index < options.pairs; index++) {
    const pair = await runPair(index, run);
    if (index >= 0) pairs.push(pair);
    const name = index < 0 ? "warm-up" : `pair ${index + 1} of ${options.pairs}`;
    options.onProgress(`${name}: ours ${describe(pair.ours)}; theirs ${describe(pair.theirs)}`);
  }
  return pairs;
}

async function runPair<T>(index: number, run: (side: Side, name: string) => Promise<T>): Promise<Record<Side, T>> {
  const trial = (side: Side) => run(side, `${index}-${side}`);
  if (index % 2 === 0) {
    const ours = await trial("ours");
    return { ours, theirs: await trial("theirs") };
  }
  const theirs = await trial("theirs");
  return { ours: await trial("ours"), theirs };
}
