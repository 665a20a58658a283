/**
 * Starts the engine of one directory instance on this process's store. The plugin's composition root: it connects the
 * store, the host, the clock and the texts. Recovery starts once OpenCode accepts requests, never before.
 */

import type { Configuration } from "../configuration/sections.ts";
import type { CrashPoint } from "../engine/context.ts";
import { createEngine } from "../engine/create-engine.ts";
import type { Engine } from "../engine/engine.ts";
import type { OpenCodeHost } from "../hosts/opencode/opencode-host.ts";
import type { Task } from "../model/task.ts";
import type { Log } from "../process/log.ts";
import { wordNotices } from "./notice-text.ts";
import { settingsOf } from "./options.ts";
import { holdStorage } from "./storage.ts";
import { TOOL_NAMES } from "./tools.ts";

/**
 * The tools of our own MCP server that start agents, merge or delete, as OpenCode names them under the server name that
 * `install` uses: what a task may not launch here, it may not launch there either. That server belongs to the process,
 * so the daemon takes a task's call for one of its parent.
 */
const WITHHELD_MCP_TOOLS = ["launch_task", "start_task_attempt", "follow_up", "merge_attempt", "delete_task"].map(
  (name) => `asyncagents_${name}`,
);

export interface PluginInstance {
  engine: Engine;
  stop(): Promise<void>;
}

export async function startInstance(input: {
  storage: string;
  directory: string;
  log: Log;
  configuration: Configuration;
  host: OpenCodeHost;
  reach(point: CrashPoint): void;
  onEnded(task: Task): void;
}): Promise<PluginInstance> {
  const { log, configuration, host } = input;
  const { toolPrefix, noticeResultChars } = configuration.opencode;
  const { store, supervisor, slots, machine, keeper, add, release } = await holdStorage(
    input.storage,
    log,
    configuration,
  );
  const ownTools = [...TOOL_NAMES.map((name) => `${toolPrefix}_${name}`), ...WITHHELD_MCP_TOOLS];
  const engine = createEngine({
    store,
    supervisor,
    slots,
    machine,
    host,
    log,
    directory: input.directory,
    settings: settingsOf(configuration, ownTools),
    reach: input.reach,
    wordNotices: (views) =>
      wordNotices(views, {
        toolPrefix,
        resultChars: noticeResultChars,
        development: isDevelopment(),
        now: Date.now(),
        newMark,
      }),
  });
  engine.onEnded(input.onEnded);
  keeper?.follow(engine);
  try {
    await engine.start();
  } catch (thrown) {
    await release(null);
    throw thrown;
  }
  add(engine);
  void supervisor.recover();
  return {
    engine,
    async stop() {
      await engine.stop();
      await release(engine);
    },
  };
}

/** Read by a computed key: OpenCode replaces the literal with "development" when it loads a plugin. */
function isDevelopment(): boolean {
  return process.env[["NODE", "ENV"].join("_")] === "development";
}

/** For the frame around a task's output. */
export function newMark(): string {
  return crypto.randomUUID().slice(-12);
}
