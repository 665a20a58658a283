/**
 * How the plugin starts in the real OpenCode with many stored tasks and with none, in interleaved pairs: the time
 * until its server answers, and OpenCode's memory then. Both stores were opened before, so neither start creates
 * tables.
 */
import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { startOpenCode } from "../../src/testing/opencode/harness.ts";
import { bounded } from "../../src/testing/recorder.ts";
import { sharedNow } from "../child-process.ts";

/** One start; times in ms. */
export interface PluginStart {
  /** From the first line of the plugin to the first answer of its server. */
  plugin: number;
  /** From the start of OpenCode to that answer. */
  process: number;
  /** OpenCode's memory after that and a first list, in MB. */
  memory: number;
}

export interface StartPair {
  many: PluginStart;
  none: PluginStart;
}

export interface StartOptions {
  /** Folders with the two stores. */
  many: string;
  none: string;
  folder: string;
  pairs: number;
  onProgress(line: string): void;
}

const LOOK_MS = 5;
const PATIENCE_MS = 60_000;
const REST_MS = 1_000;
const plugin = [pathToFileURL(Bun.fileURLToPath(import.meta.resolve("./stamping-plugin.ts"))).href];
/** It is never prompted. */
const model = { url: "http://127.0.0.1:9/v1" };

export async function measureStarts(options: StartOptions): Promise<StartPair[]> {
  const pairs: StartPair[] = [];
  // The first pair is discarded, because its files are read from disk.
  for (let index = -1; index < options.pairs; index++) {
    const pair: Partial<StartPair> = {};
    for (const side of index % 2 === 0 ? (["many", "none"] as const) : (["none", "many"] as const)) {
      pair[side] = await measureStart(options[side], join(options.folder, "plugin-start"));
    }
    const { many, none } = pair;
    if (!many || !none) throw new Error("A side of the pair is missing.");
    if (index >= 0) pairs.push({ many, none });
    const words = ({ plugin, process, memory }: PluginStart) =>
      `${plugin.toFixed(0)} ms (${process.toFixed(0)} ms in all), ${memory.toFixed(0)} MB`;
    const name = index < 0 ? "warm-up" : `pair ${index + 1} of ${options.pairs}`;
    options.onProgress(`${name}: many ${words(many)}; none ${words(none)}`);
  }
  return pairs;
}

async function measureStart(storage: string, stamp: string): Promise<PluginStart> {
  rmSync(stamp, { force: true });
  rmSync(join(storage, "servers"), { recursive: true, force: true });
  const began = sharedNow();
  const own = { ASYNCAGENTS_HOME: storage, ASYNCAGENTS_API_PORT: "0", ASYNCAGENTS_BENCH_STAMP: stamp };
  const env = { ...own, OPENCODE_MODELS_PATH: "" };
  const starting = startOpenCode({ model, plugin, env });
  try {
    const url = await bounded(firstAnswer(storage), PATIENCE_MS, () => "an answer of the plugin's server.");
    const answeredAt = sharedNow();
    const opencode = await starting;
    await (await fetch(`${url}/v1/tasks`)).text();
    await Bun.sleep(REST_MS);
    const loading = Number(readFileSync(stamp, "utf8"));
    return { plugin: answeredAt - loading, process: answeredAt - began, memory: residentMegabytes(opencode.pid) };
  } finally {
    await starting.then((opencode) => opencode.stop());
  }
}

/** The address of the server announced in the folder, once it has answered. */
async function firstAnswer(storage: string): Promise<string> {
  const folder = join(storage, "servers");
  for (;;) {
    const file = existsSync(folder) ? readdirSync(folder).find((name) => name.endsWith(".json")) : undefined;
    if (file !== undefined) {
      const { url } = JSON.parse(readFileSync(join(folder, file), "utf8")) as { url: string };
      await (await fetch(`${url}/v1/health`)).text();
      return url;
    }
    await Bun.sleep(LOOK_MS);
  }
}

function residentMegabytes(pid: number): number {
  const status = `/proc/${pid}/status`;
  const kilobytes = existsSync(status)
    ? /^VmRSS:\s+(\d+)/m.exec(readFileSync(status, "utf8"))?.[1]
    : Bun.spawnSync(["ps", "-o", "rss=", "-p", String(pid)]).stdout.toString();
  return Number(kilobytes) / 1024;
}
