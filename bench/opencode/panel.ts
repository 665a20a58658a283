/**
 * What the panel costs the real OpenCode in a terminal: its start until the prompt is drawn, and the processor time
 * of a screen in which nothing happens. Both sides have the plugin, the same HOME and the same project; only
 * `tui.json` differs.
 */
import { readFileSync, rmSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { loadavg } from "node:os";
import { dirname, join } from "node:path";
import { attachLifeline } from "../../src/testing/lifeline.ts";
import { openCodeBinary } from "../../src/testing/opencode/binary.ts";
import { createProject, createTemporaryRoot, prepareHome } from "../../src/testing/opencode/home.ts";
import { cleanEnvironment } from "../../src/testing/opencode/process.ts";
import { bounded } from "../../src/testing/recorder.ts";
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
const SETTLE_MS = 30_000;
const REST_MS = 40_000;
const STOP_MS = 5_000;
/** The kernel counts processor time in hundredths of a second. */
const TICK_MS = 10;

/** One start; `rest` in ms of processor time per second. */
interface PanelTrial {
  start: number;
  startCpu: number;
  rest: number;
}

export interface PanelOptions {
  pairs: number;
  warmUps: number;
  onProgress(line: string): void;
}

export async function panelCost(options: PanelOptions): Promise<{ passed: boolean; figures: object }> {
  const folder = await createTemporaryRoot();
  try {
    const home = join(folder, "home");
    // It is never prompted.
    await prepareHome(home, { model: { url: "http://127.0.0.1:9/v1" }, plugin: [PLUGIN] });
    await mkdir(join(folder, "project"));
    const directory = await createProject(join(folder, "project"));
    const words = ({ start, rest }: PanelTrial) => `${start.toFixed(0)} ms, at rest ${rest.toFixed(1)} ms/s`;
    const pairs = await interleavedPairs(options, (side) => measured({ side, home, directory, folder }), words);
    const of = (key: keyof PanelTrial) => pairs.map(({ ours, theirs }) => ({ ours: ours[key], theirs: theirs[key] }));
    const judged = measures(of).map(judgeStatus);
    const load = loadavg()[0] ?? 0;
    console.log(
      `\nThe panel in OpenCode (${pairs.length} interleaved pairs, load ${load.toFixed(1)})\n\n${statusTable(judged)}\n`,
    );
    for (const each of judged) if (each.passed !== null) console.log(statusVerdict(each));
    const passed = judged.every((each) => each.passed !== false);
    return { passed, figures: { name: "panel", load, measures: judged, pairs } };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function measures(of: (key: keyof PanelTrial) => StatusMeasure["pairs"]): StatusMeasure[] {
  const against = "OpenCode without the panel";
  const limit = (value: number) => ({ bound: "at most", value }) as const;
  const shared = { against, unit: "ms" } as const;
  return [
    { ...shared, title: "start until the prompt", compare: "ratio", limit: limit(1.05), pairs: of("start") },
    { ...shared, title: "processor time until then", compare: "ratio", limit: limit(1.05), pairs: of("startCpu") },
    {
      ...shared,
      title: "processor time of a second at rest",
      compare: "difference",
      limit: limit(5),
      pairs: of("rest"),
    },
  ];
}

interface Place {
  side: Side;
  home: string;
  directory: string;
  folder: string;
}

async function measured({ side, home, directory, folder }: Place): Promise<PanelTrial> {
  const config = { plugin: side === "ours" ? [PANEL] : [] };
  await writeFile(join(home, ".config", "opencode", "tui.json"), JSON.stringify(config));
  const screen = new Screen();
  const began = performance.now();
  const child = Bun.spawn([openCodeBinary()], {
    cwd: directory,
    env: cleanEnvironment(home, { TERM: "xterm-256color", ASYNCAGENTS_API_PORT: "0" }),
    terminal: { cols: 160, rows: 40, data: (_, bytes) => screen.write(bytes) },
  });
  const release = attachLifeline(child.pid, folder);
  try {
    await screen.shows(PROMPT, START_MS);
    const start = performance.now() - began;
    const startCpu = processorTime(child.pid);
    await Bun.sleep(SETTLE_MS);
    const [before, from] = [processorTime(child.pid), performance.now()];
    await Bun.sleep(REST_MS);
    const rest = ((processorTime(child.pid) - before) / (performance.now() - from)) * 1000;
    return { start, startCpu, rest };
  } finally {
    child.kill("SIGTERM");
    await bounded(child.exited, STOP_MS, () => "OpenCode to end.").catch(() => child.kill("SIGKILL"));
    await child.exited;
    release();
  }
}

/** In ms, of all threads. */
function processorTime(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
    .replace(/^.*\) /, "")
    .split(" ");
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
}
