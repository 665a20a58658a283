/** An engine on a Claude host, as in a process of its own, with the store of its bed. */
import { join } from "node:path";
import { DEFAULT_SETTINGS, type Settings } from "../../../src/engine/context.ts";
import { Engine } from "../../../src/engine/engine.ts";
import { Supervisor } from "../../../src/engine/supervisor.ts";
import type { ClaudeHost } from "../../../src/hosts/claude/claude-host.ts";
import { isLive, type Task } from "../../../src/model/task.ts";
import { systemClock } from "../../../src/process/clock.ts";
import { sqliteStore } from "../../../src/store/open.ts";
import type { Store } from "../../../src/store/store.ts";
import { eventually } from "../../../src/testing/eventually.ts";
import { sampleInstance } from "../../../src/testing/sample-instance.ts";
import { AGENT, type ClaudeBed } from "./claude-bed.ts";

export interface ClaudeEngine {
  engine: Engine;
  store: Store;
  stop(): Promise<void>;
}

/** `dead`: the ids of the instances that others take for dead. */
export async function claudeEngine(
  bed: ClaudeBed,
  dead: ReadonlySet<string>,
  { id, host, settings = {} }: { id: string; host: ClaudeHost; settings?: Partial<Settings> },
): Promise<ClaudeEngine> {
  const opened = await sqliteStore({ directory: join(bed.home.root, "store") });
  const directory = bed.home.directory;
  const instance = sampleInstance(id, { pid: process.pid, host: host.kind, directory, startedAt: Date.now() });
  const log = { info: () => {}, error: () => {} };
  const isAlive = (instance: { id: string }) => !dead.has(instance.id);
  const supervisor = new Supervisor({ store: opened, log, ...systemClock, isAlive, pollMs: 1000 });
  const made = new Engine({
    store: opened,
    supervisor,
    host,
    instance,
    settings: { ...DEFAULT_SETTINGS, pollMs: 1000, ...settings },
    log,
    ...systemClock,
    newId: (prefix) => `${prefix}_${crypto.randomUUID()}`,
    wordNotices: () => ({ visible: "told", hidden: "" }),
    reach: () => {},
  });
  const stop = async () => {
    supervisor.stop();
    await made.stop();
    await opened.close();
  };
  return { engine: made, store: opened, stop };
}

/** Launched by a person: no parent has to be notified. */
const person = { sessionId: "", messageId: "", agent: "", model: null, variant: null };

export async function launch(by: Engine, prompt: string): Promise<Task> {
  const request = { description: "A task", prompt, agent: AGENT, fork: false, batch: null };
  return by.launch(person, request, await by.checkLaunch(person, request));
}

/** The task as soon as it matches. */
export function when(store: Store, task: Task, fits: (task: Task) => boolean): Promise<Task> {
  return eventually(store, async () => {
    const now = await store.task(task.id);
    return now && fits(now) ? now : null;
  });
}

export function ended(store: Store, task: Task): Promise<Task> {
  return when(store, task, (now) => now.run.number >= task.run.number && !isLive(now.status));
}
