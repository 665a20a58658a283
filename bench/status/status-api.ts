/**
 * The benchmark of the status API: creates the stores once, in a temporary folder, and runs its parts on them one
 * after the other. In any case it ends its child processes and removes the folder.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { availableParallelism, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import type { Part } from "../arguments.ts";
import { count, disturbance } from "../report.ts";
import { type EventFigures, measureEvents } from "./event-rounds.ts";
import { fillStore } from "./filled-store.ts";
import { measureLists } from "./list-rounds.ts";
import { eventMeasures, type JudgedStatus, judgeStatus, listMeasures, startMeasures } from "./measures.ts";
import { ensureOpenFiles } from "./open-files.ts";
import { measureStarts } from "./plugin-starts.ts";
import { spread, statusTable, statusVerdict } from "./report.ts";

export interface StatusOptions {
  parts: readonly Part[];
  quick: boolean;
  onProgress(line: string): void;
}

const FULL = {
  tasks: 100_000,
  pairs: 10,
  rounds: 15,
  requests: 300,
  readers: 1_000,
  eventRounds: 20,
  foreignChanges: 100,
};
const QUICK = { tasks: 2_000, pairs: 1, rounds: 3, requests: 40, readers: 100, eventRounds: 3, foreignChanges: 5 };
const FEW_TASKS = 100;

type Sizes = typeof FULL;

interface Stage extends Sizes {
  folder: string;
  large: string;
  onProgress(line: string): void;
}

/** The result of a part: what is judged, what is only reported, and the figures behind both. */
interface Outcome {
  judged: JudgedStatus[];
  told: string[];
  figures: object;
}

const parts: Record<Part, (stage: Stage) => Promise<Outcome>> = { start: starts, list: lists, events };

export async function statusApi(options: StatusOptions): Promise<{ passed: boolean; figures: object }> {
  const sizes = options.quick ? QUICK : FULL;
  if (options.parts.includes("events")) ensureOpenFiles(2 * sizes.readers);
  const folder = mkdtempSync(join(tmpdir(), "asyncagents-"));
  const stage = { ...sizes, folder, large: join(folder, "large"), onProgress: options.onProgress };
  try {
    options.onProgress(`a store of ${count(sizes.tasks)} tasks, event by event`);
    await fillStore(stage.large, sizes.tasks);
    const outcomes: (Outcome & { part: Part; load: number })[] = [];
    for (const part of options.parts) {
      options.onProgress(`status API: ${part}`);
      outcomes.push({ part, ...(await parts[part](stage)), load: loadavg()[0] ?? 0 });
    }
    print(outcomes, sizes, options.quick);
    const passed = outcomes.every(({ judged }) => judged.every((each) => each.passed !== false));
    return { passed, figures: { name: "status-api", quick: options.quick, sizes, parts: outcomes } };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function starts({ folder, large, pairs, onProgress }: Stage): Promise<Outcome> {
  const none = join(folder, "none");
  await fillStore(none, 0);
  const measured = await measureStarts({ many: large, none, folder, pairs, onProgress });
  return { judged: startMeasures(measured).map(judgeStatus), told: [], figures: { pairs: measured } };
}

async function lists({ folder, large, rounds, requests, onProgress }: Stage): Promise<Outcome> {
  const small = join(folder, "small");
  await fillStore(small, FEW_TASKS);
  const figures = await measureLists({ large, small, folder, rounds, requests, onProgress });
  const told = [`A list of 50 has ${count(figures.bytes)} bytes; a write to the store came before every request.`];
  return { judged: listMeasures(figures).map(judgeStatus), told, figures };
}

async function events({ folder, large, readers, eventRounds, foreignChanges, onProgress }: Stage): Promise<Outcome> {
  const options = { directory: large, folder, readers, rounds: eventRounds, foreignChanges, onProgress };
  const figures = await measureEvents(options);
  const all = (side: "ours" | "theirs") => figures.rounds.flatMap((round) => round[side]);
  const told = [
    `An event has ${count(figures.bytes)} bytes and goes to ${count(readers)} readers.`,
    `All deliveries of all rounds together: ours ${spread(all("ours"))}; bare ${spread(all("theirs"))}.`,
    `A change of another process reaches a stream: ${spread(figures.foreign)} (${foreignChanges} changes).`,
  ];
  return { judged: eventMeasures(figures).map(judgeStatus), told, figures: { ...figures, rounds: tails(figures) } };
}

/** A round has too many deliveries to write down. */
function tails({ rounds }: EventFigures): object[] {
  return rounds.map(({ ours, theirs }) => ({ ours: spread(ours), theirs: spread(theirs) }));
}

function print(outcomes: readonly (Outcome & { part: Part; load: number })[], sizes: Sizes, quick: boolean): void {
  const cores = availableParallelism();
  const loads = outcomes.map(({ part, load }) => `${part} ${load.toFixed(1)}`).join(", ");
  console.log(`\nStatus API on ${count(sizes.tasks)} stored tasks (${cores} cores; load after each part: ${loads})\n`);
  console.log(statusTable(outcomes.flatMap(({ judged }) => judged)));
  for (const line of outcomes.flatMap(({ told }) => told)) console.log(line);
  const disturbed = disturbance(Math.max(...outcomes.map(({ load }) => load)), cores);
  if (disturbed) console.log(disturbed);
  if (quick) console.log("A quick trial: no result.");
  console.log("");
  for (const each of outcomes.flatMap(({ judged }) => judged)) {
    if (each.passed !== null) console.log(statusVerdict(each));
  }
}
