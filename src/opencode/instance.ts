/**
 * Starts the engine of one directory instance on this process's store. The composition root of the plugin: here the
 * store, the host, the clock and the words meet. Recovery begins once OpenCode can be asked, never before.
 */

import type { CrashPoint, EngineContext } from "../engine/context.ts";
import { Engine } from "../engine/engine.ts";
import type { OpenCodeHost } from "../hosts/opencode/opencode-host.ts";
import type { Task } from "../model/task.ts";
import { awakeNow } from "../process/awake-clock.ts";
import { isInstanceAlive, ownIdentity } from "../process/liveness.ts";
import type { Log } from "../process/log.ts";
import { wordNotices } from "./notice-text.ts";
import { type PluginOptions, settingsOf } from "./options.ts";
import { holdStorage } from "./storage.ts";
import { TOOL_NAMES } from "./tools.ts";

/**
 * The tools that start agents of our own MCP server, as OpenCode names them with the name that `install` gives the server: what a
 * task may not launch here, it may not launch there.
 */
const STARTING_MCP_TOOLS = ["launch_task", "start_task_attempt", "follow_up"].map((name) => `asyncagents_${name}`);

export interface Instance {
  engine: Engine;
  stop(): Promise<void>;
}

export async function startInstance(input: {
  storage: string;
  directory: string;
  log: Log;
  options: PluginOptions;
  host: OpenCodeHost;
  reach(point: CrashPoint): void;
  onEnded(task: Task): void;
}): Promise<Instance> {
  const { log, options, host } = input;
  const { store, slots, add, release } = await holdStorage(input.storage, log, options.maxConcurrent ?? null);
  const ownTools = [...TOOL_NAMES.map((name) => `${options.toolPrefix}_${name}`), ...STARTING_MCP_TOOLS];
  const context: EngineContext = {
    store,
    slots,
    host,
    log,
    instance: {
      id: newId("ins"),
      ...ownIdentity(),
      beat: 0,
      host: host.kind,
      directory: input.directory,
      startedAt: Date.now(),
    },
    settings: settingsOf(options, ownTools),
    now: Date.now,
    monotonic: awakeNow,
    newId,
    isAlive: isInstanceAlive,
    reach: input.reach,
    wordNotices: (views) =>
      wordNotices(views, {
        toolPrefix: options.toolPrefix,
        resultChars: options.noticeResultChars,
        development: isDevelopment(),
        now: Date.now(),
        newMark,
      }),
  };
  const engine = new Engine(context);
  engine.onEnded(input.onEnded);
  try {
    await engine.start();
  } catch (thrown) {
    await release(null);
    throw thrown;
  }
  add(engine);
  void engine.recover();
  return {
    engine,
    async stop() {
      await engine.stop();
      await release(engine);
    },
  };
}

/** Read by a computed key: OpenCode replaces the literal by "development" when it loads a plugin. */
function isDevelopment(): boolean {
  return process.env[["NODE", "ENV"].join("_")] === "development";
}

/** For the frame around what a task wrote. */
export function newMark(): string {
  return crypto.randomUUID().slice(-12);
}

function newId(prefix: string): string {
  return `${prefix}_${crypto.randomUUID().replaceAll("-", "")}`;
}
