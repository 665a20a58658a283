/**
 * Starts the engine of one directory instance on this process's store. The plugin's composition root: it connects the
 * store, the host, the clock and the texts. Recovery starts once OpenCode accepts requests, never before.
 */

import type { TaskWorktrees } from "../board/worktrees/task-worktrees.ts";
import type { Configuration } from "../configuration/sections.ts";
import type { CrashPoint } from "../engine/context.ts";
import { createEngine } from "../engine/create-engine.ts";
import type { Engine } from "../engine/engine.ts";
import type { OpenCodeHost } from "../hosts/opencode/opencode-host.ts";
import type { OpenCodeSend } from "../hosts/opencode/transport.ts";
import type { Task } from "../model/task.ts";
import type { Log } from "../process/log.ts";
import { wordNotices } from "./notice-text.ts";
import { settingsOf } from "./options.ts";
import { holdStorage } from "./storage.ts";
import { TOOL_NAMES } from "./tools.ts";
import { WorktreeEngines } from "./worktree-engines.ts";

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
  taskWorktrees(): Promise<TaskWorktrees>;
  /** Rejects a repository that a session here gets no worktree of. */
  mayUse: Parameters<TaskWorktrees["launch"]>[0]["mayUse"];
  /** The engine of the worktree of a task. */
  engineIn(directory: string): Promise<Engine>;
  stop(): Promise<void>;
}

export async function startInstance(input: {
  storage: string;
  directory: string;
  /** The top of OpenCode's own checkout; `/` if it has none. */
  worktree: string;
  log: Log;
  configuration: Configuration;
  host: OpenCodeHost;
  send: OpenCodeSend;
  reach(point: CrashPoint): void;
  onEnded(task: Task): void;
}): Promise<PluginInstance> {
  const { log, configuration, host } = input;
  const { toolPrefix, noticeResultChars } = configuration.opencode;
  const held = await holdStorage(input.storage, log, configuration);
  const { store, supervisor, slots, machine, keeper, telemetry, taskWorktrees, add, release } = held;
  const ownTools = [...TOOL_NAMES.map((name) => `${toolPrefix}_${name}`), ...WITHHELD_MCP_TOOLS];
  const make = (of: OpenCodeHost, directory: string): Engine => {
    const made = createEngine({
      store,
      supervisor,
      slots,
      machine,
      host: of,
      log,
      directory,
      settings: settingsOf(configuration, ownTools),
      reach: input.reach,
      changesOf: async (task) => (task.directory === input.directory ? null : (await taskWorktrees()).textOf(task)),
      wordNotices: (views) =>
        wordNotices(views, {
          toolPrefix,
          resultChars: noticeResultChars,
          development: isDevelopment(),
          now: Date.now(),
          newMark,
        }),
    });
    made.onEnded(input.onEnded);
    keeper?.follow(made);
    telemetry?.follow(made);
    return made;
  };
  const engine = make(host, input.directory);
  const worktreeEngines = new WorktreeEngines(input.send, (of, directory) => {
    const made = make(of, directory);
    add(made);
    return made;
  });
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
    taskWorktrees,
    // Loaded only where it is needed.
    mayUse: async (repo) => (await import("../board/worktrees/own-repo.ts")).assertOwnRepo(repo, input),
    engineIn: (directory) =>
      directory === input.directory ? Promise.resolve(engine) : worktreeEngines.open(directory),
    async stop() {
      await worktreeEngines.stop();
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
