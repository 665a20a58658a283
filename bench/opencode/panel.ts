/**
 * What the panel costs the real OpenCode in a terminal: its start until the prompt is drawn, and the processor time
 * of a screen in which nothing happens. Both sides have the plugin and a project of their own; only `tui.json`
 * differs. Starts alternate, one at a time. Screens at rest are measured side by side: they use no time that the other
 * could lack, and see the same disturbances.
 */
import { readFileSync, rmSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { availableParallelism, loadavg } from "node:os";
import { dirname, join } from "node:path";
import { attachLifeline } from "../../src/testing/lifeline.ts";
import { openCodeBinary } from "../../src/testing/opencode/binary.ts";
import { createProject, createTemporaryRoot, prepareHome } from "../../src/testing/opencode/home.ts";
import { cleanEnvironment } from "../../src/testing/opencode/process.ts";
import { bounded } from "../../src/testing/recorder.ts";
import { disturbance } from "../report.ts";
import type { Pair } from "../statistics.ts";
import { judgeStatus, type StatusMeasure } from "../status/measures.ts";
import { statusTable, statusVerdict } from "../status/report.ts";
import type { Side } from "./contenders.ts";
import { interleavedPairs } from "./pairs.ts";
import { Screen } from "./screen.ts";

const root = dirname(dirname(import.meta.dir));
const PANEL = join(root, "dist", "tui", "panel.js");
const PLUGIN = join(root, "src", "opencode", "server.ts");
const PROMPT = "Ask anything";
const START_MS = 180_000;
/** After the prompt is drawn, OpenCode still starts its server and our plugin; then it rests. */
const SETTLE_MS = 20_000;
const REST_MS = 30_000;
const STOP_MS = 5_000;
/** The kernel counts processor time in hundredths of a second. */
const TICK_MS = 10;

interface Start {
  start: number;
  startCpu: number;
}

export interface PanelOptions {
  pairs: number;
  warmUps: number;
  /** How often the two screens are measured at rest. */
  rests: number;
  onProgress(line: string): void;
}

export async function panelCost(options: PanelOptions): Promise<{ passed: boolean; figures: object }> {
  const folder = await createTemporaryRoot();
  try {
    const places = { ours: await place(folder, "ours"), theirs: await place(folder, "theirs") };
    const words = ({ start, startCpu }: Start) => `${start.toFixed(0)} ms, processor ${startCpu} ms`;
    const starts = await interleavedPairs(options, (side) => onScreen(places[side], started), words);
    const rests: Pair[] = [];
    for (let round = 1; round <= options.rests; round++) {
      const [ours, theirs] = await Promise.all([onScreen(places.ours, rested), onScreen(places.theirs, rested)]);
      rests.push({ ours, theirs });
      options.onProgress(
        `rest ${round} of ${options.rests}: ours ${ours.toFixed(1)} ms/s; theirs ${theirs.toFixed(1)}`,
      );
    }
    const of = (key: keyof Start) => starts.map(({ ours, theirs }) => ({ ours: ours[key], theirs: theirs[key] }));
    const judged = measures({ start: of("start"), startCpu: of("startCpu"), rest: rests }).map(judgeStatus);
    const load = loadavg()[0] ?? 0;
    const about = `${starts.length} interleaved pairs of starts, ${rests.length} of rests, load ${load.toFixed(1)}`;
    console.log(`\nThe panel in OpenCode (${about})\n\n${statusTable(judged)}\n`);
    const disturbed = disturbance(load, availableParallelism());
    if (disturbed) console.log(disturbed);
    for (const each of judged) if (each.passed !== null) console.log(statusVerdict(each));
    const passed = judged.every((each) => each.passed !== false);
    return { passed, figures: { name: "panel", load, measures: judged } };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function measures({ start, startCpu, rest }: Record<keyof Start | "rest", Pair[]>): StatusMeasure[] {
  const against = "OpenCode without the panel";
  const limit = (value: number) => ({ bound: "at most", value }) as const;
  const shared = { against, unit: "ms" } as const;
  return [
    { ...shared, title: "start until the prompt", compare: "ratio", limit: limit(1.05), pairs: start },
    { ...shared, title: "processor time until then", compare: "ratio", limit: limit(1.05), pairs: startCpu },
    { ...shared, title: "processor time of a second at rest", compare: "difference", limit: limit(5), pairs: rest },
  ];
}

interface Place {
  home: string;
  directory: string;
  folder: string;
}

async function place(root: string, side: Side): Promise<Place> {
  const folder = join(root, side);
  const home = join(folder, "home");
  // It is never prompted.
  await prepareHome(home, { model: { url: "http://127.0.0.1:9/v1" }, plugin: [PLUGIN] });
  const config = { plugin: side === "ours" ? [PANEL] : [] };
  await writeFile(join(home, ".config", "opencode", "tui.json"), JSON.stringify(config));
  await mkdir(join(folder, "project"));
  return { home, directory: await createProject(join(folder, "project")), folder };
}

/** One OpenCode in a terminal, from before its start until the work is done. */
async function onScreen<T>(
  { home, directory, folder }: Place,
  work: (screen: Screen, pid: number) => Promise<T>,
): Promise<T> {
  const screen = new Screen();
  const child = Bun.spawn([openCodeBinary()], {
    cwd: directory,
    env: cleanEnvironment(home, { TERM: "xterm-256color", ASYNCAGENTS_API_PORT: "0", OPENCODE_MODELS_PATH: "" }),
    terminal: { cols: 160, rows: 40, data: (_, bytes) => screen.write(bytes) },
  });
  const release = attachLifeline(child.pid, folder);
  try {
    return await work(screen, child.pid);
  } finally {
    child.kill("SIGTERM");
    await bounded(child.exited, STOP_MS, () => "OpenCode to end.").catch(() => child.kill("SIGKILL"));
    await child.exited;
    release();
  }
}

async function started(screen: Screen, pid: number): Promise<Start> {
  const began = performance.now();
  await screen.shows(PROMPT, START_MS);
  return { start: performance.now() - began, startCpu: processorTime(pid) };
}

/** In ms of processor time per second. */
async function rested(screen: Screen, pid: number): Promise<number> {
  await screen.shows(PROMPT, START_MS);
  await Bun.sleep(SETTLE_MS);
  const [before, from] = [processorTime(pid), performance.now()];
  await Bun.sleep(REST_MS);
  return ((processorTime(pid) - before) / (performance.now() - from)) * 1000;
}

/** In ms, of all threads. */
function processorTime(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
    .replace(/^.*\) /, "")
    .split(" ");
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
}
