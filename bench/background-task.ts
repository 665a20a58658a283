/**
 * The benchmark against OpenCode's own background `task`: both tools in one OpenCode process, trials in interleaved pairs.
 * Invariant: the order within a pair alternates, so that neither side always comes first; warm-up pairs are thrown away.
 */
import { loadavg } from "node:os";
import { pathToFileURL } from "node:url";
import { type Bed, type Mode, onBed } from "./bed.ts";
import { contenders, type Side } from "./contenders.ts";
import { type ContextBytes, contextBytes, definitionBytes } from "./context-bytes.ts";
import { runTrial, type Trial } from "./trial.ts";

export interface Comparison {
  mode: Mode;
  openCodeVersion: string;
  /** Of the last minute of it. */
  load: number;
  pairs: Record<Side, Trial>[];
  bytes: Record<Side, ContextBytes>;
}

export interface ComparisonOptions {
  pairs: number;
  warmUps: number;
  onProgress(line: string): void;
}

const BACKGROUND = { OPENCODE_EXPERIMENTAL_BACKGROUND_SUBAGENTS: "1" };
const plugin = [pathToFileURL(Bun.fileURLToPath(import.meta.resolve("../src/opencode/server.ts"))).href];

/** The bytes that the definition of OpenCode's `task` has when background tasks are off. */
export function plainDefinitionBytes(): Promise<number> {
  return onBed("serve", {}, async ({ begin }) => definitionBytes((await begin("Hello.")).request, contenders.theirs));
}

export function compareBackgroundTasks(mode: Mode, options: ComparisonOptions): Promise<Comparison> {
  return onBed(mode, { plugin, env: BACKGROUND }, async (bed) => {
    const pairs = await runPairs(bed, options);
    const [first] = pairs;
    const session = first?.ours.requests[0]?.sessionId;
    if (!first || !session) throw new RangeError("At least one pair is needed.");
    const bytes = {
      ours: contextBytes(first.ours, contenders.ours),
      theirs: contextBytes(first.theirs, contenders.theirs),
    };
    return { mode, openCodeVersion: bed.stored.version(session), load: loadavg()[0] ?? 0, pairs, bytes };
  });
}

async function runPairs(bed: Bed, options: ComparisonOptions): Promise<Record<Side, Trial>[]> {
  const pairs: Record<Side, Trial>[] = [];
  for (let index = -options.warmUps; index < options.pairs; index++) {
    const first: Side = index % 2 === 0 ? "ours" : "theirs";
    const trials: Partial<Record<Side, Trial>> = {};
    for (const side of [first, first === "ours" ? "theirs" : "ours"] as const) {
      trials[side] = await runTrial(bed, contenders[side], `${index}-${side}`);
    }
    const { ours, theirs } = trials;
    if (!ours || !theirs) throw new Error("A side of the pair is missing.");
    if (index >= 0) pairs.push({ ours, theirs });
    options.onProgress(progressLine(index, options.pairs, { ours, theirs }));
  }
  return pairs;
}

function progressLine(index: number, total: number, { ours, theirs }: Record<Side, Trial>): string {
  const name = index < 0 ? "warm-up" : `pair ${index + 1} of ${total}`;
  const times = ({ launchCall, told }: Trial) => `launch ${launchCall} ms, told ${told.toFixed(0)} ms`;
  return `${name}: ours ${times(ours)}; theirs ${times(theirs)}`;
}
