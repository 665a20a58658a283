/**
 * The benchmark against OpenCode's own background `task`: both tools in one OpenCode process, trials in interleaved pairs.
 * Invariant: the order within a pair alternates, so that neither side always comes first; warm-up pairs are thrown away.
 */
import { pathToFileURL } from "node:url";
import { startOpenCode } from "../src/testing/opencode-harness.ts";
import { contenders, type Side, scripts } from "./contenders.ts";
import { type ContextBytes, contextBytes, definitionBytes } from "./context-bytes.ts";
import { startStampedModel } from "./stamped-model.ts";
import { type Bed, runTrial, type Trial } from "./trial.ts";

export interface Comparison {
  openCodeVersion: string;
  pairs: Record<Side, Trial>[];
  bytes: Record<Side, ContextBytes>;
  /** The definition of OpenCode's `task` when background tasks are off. */
  plainDefinition: number;
}

export interface ComparisonOptions {
  pairs: number;
  warmUps: number;
  onProgress(line: string): void;
}

const BACKGROUND = { OPENCODE_EXPERIMENTAL_BACKGROUND_SUBAGENTS: "1" };
const plugin = [pathToFileURL(Bun.fileURLToPath(import.meta.resolve("../src/opencode/server.ts"))).href];

export async function compareBackgroundTasks(options: ComparisonOptions): Promise<Comparison> {
  const { onProgress } = options;
  onProgress("OpenCode without background tasks: the size of its plain definition");
  const plainDefinition = await onOpenCode({}, async ({ opencode, model }) => {
    const { id } = await opencode.createSession({ title: "definitions" });
    await opencode.prompt(id, "Hello.");
    const [exchange] = await model.exchanges(id, 1);
    return exchange ? definitionBytes(exchange.request, contenders.theirs) : 0;
  });
  onProgress("OpenCode with the plugin and with its own background tasks");
  return onOpenCode({ plugin, env: BACKGROUND }, async (bed) => {
    const { version } = await bed.opencode.client.request<{ version: string }>("GET", "/global/health");
    const pairs = await runPairs(bed, options);
    const first = pairs[0];
    if (!first) throw new RangeError("At least one pair is needed.");
    const bytes = {
      ours: contextBytes(first.ours, contenders.ours),
      theirs: contextBytes(first.theirs, contenders.theirs),
    };
    return { openCodeVersion: version, pairs, bytes, plainDefinition };
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

async function onOpenCode<T>(
  settings: { plugin?: string[]; env?: Record<string, string> },
  work: (bed: Bed) => Promise<T>,
): Promise<T> {
  const model = startStampedModel(scripts());
  try {
    const opencode = await startOpenCode({ model, ...settings });
    try {
      return await work({ opencode, model });
    } finally {
      await opencode.stop();
    }
  } finally {
    await model.stop();
  }
}
