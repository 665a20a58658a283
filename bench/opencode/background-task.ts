/**
 * The benchmarks against OpenCode's own background `task`: both tools in one OpenCode process, trials in interleaved
 * pairs. One launches a single task per trial, the other many tasks in one answer of the model.
 */
import { loadavg } from "node:os";
import { pathToFileURL } from "node:url";
import { type Mode, onBed } from "./bed.ts";
import { contenders, type Side } from "./contenders.ts";
import { type ContextBytes, contextBytes, definitionBytes } from "./context-bytes.ts";
import { type ManyTrial, runManyTrial } from "./many-tasks.ts";
import { interleavedPairs, type PairOptions } from "./pairs.ts";
import { runTrial, type Trial } from "./trial.ts";

export interface Comparison {
  mode: Mode;
  openCodeVersion: string;
  /** The load average of the last minute. */
  load: number;
  pairs: Record<Side, Trial>[];
  bytes: Record<Side, ContextBytes>;
}

const BACKGROUND = { OPENCODE_EXPERIMENTAL_BACKGROUND_SUBAGENTS: "1" };
const plugin = [pathToFileURL(Bun.fileURLToPath(import.meta.resolve("../../src/opencode/server.ts"))).href];

/** The size of the definition of OpenCode's `task` with background tasks off, in bytes. */
export function plainDefinitionBytes(): Promise<number> {
  return onBed("serve", {}, async ({ begin }) => definitionBytes((await begin("Hello.")).request, contenders.theirs));
}

export function compareBackgroundTasks(mode: Mode, options: PairOptions): Promise<Comparison> {
  return onBed(mode, { plugin, env: BACKGROUND }, async (bed) => {
    const pairs = await interleavedPairs(
      options,
      (side, name) => runTrial(bed, contenders[side], name),
      ({ launchCall, told }) => `launch ${launchCall} ms, told ${told.toFixed(0)} ms`,
    );
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

/** Many launches in one answer of the model, on `opencode serve`. */
export function compareManyTasks(options: PairOptions): Promise<Record<Side, ManyTrial>[]> {
  return onBed("serve", { plugin, env: BACKGROUND }, (bed) =>
    interleavedPairs(
      options,
      (side, name) => runManyTrial(bed, contenders[side], name),
      ({ launchTurn, allTold }) => `launched in ${launchTurn.toFixed(0)} ms, all told in ${allTold.toFixed(0)} ms`,
    ),
  );
}
