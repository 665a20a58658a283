/** Runners on real scripted hosts and a real store, in folders of their own. */
import { afterEach } from "bun:test";
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Desk } from "../../src/engine/desk.ts";
import type { Engine } from "../../src/engine/engine.ts";
import { Runner } from "../../src/engine/runner.ts";
import { scriptedHosts } from "../../src/hosts/scripted/scripted-hosts.ts";
import { isLive, type Task } from "../../src/model/task.ts";
import { sqliteStore } from "../../src/store/open.ts";
import type { Store } from "../../src/store/store.ts";
import { eventually } from "../../src/testing/eventually.ts";

export const log = { info: () => {}, error: () => {} };

export interface RunnerBed {
  folder: string;
  store: Store;
  directory(name: string): string;
  runner(context?: Partial<ConstructorParameters<typeof Runner>[0]>): Runner;
}

/** For one test file: what its tests make is ended and removed after each. */
export function runnerBeds(): { newBed(): Promise<RunnerBed>; onEnd(cleanup: () => unknown): void } {
  const cleanups: (() => unknown)[] = [];
  afterEach(async () => {
    for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
  });
  const newBed = async () => {
    const folder = realpathSync(mkdtempSync(join(tmpdir(), "asyncagents-runner-")));
    const store = await sqliteStore({ directory: join(folder, "store") });
    cleanups.push(async () => {
      await store.close();
      rmSync(folder, { recursive: true, force: true });
    });
    const directory = (name: string) => {
      mkdirSync(join(folder, name), { recursive: true });
      return join(folder, name);
    };
    const runner: RunnerBed["runner"] = (context = {}) => {
      const makers = [scriptedHosts({ folder: join(folder, "sessions") })];
      const made = new Runner({ store, log, makers, ...context });
      cleanups.push(() => made.stop());
      return made;
    };
    return { folder, store, directory, runner };
  };
  return { newBed, onEnd: (cleanup) => cleanups.push(cleanup) };
}

const desk = new Desk({ store: {} as Store, engines: () => [], isAlive: () => true });
export const launch = (engine: Engine, prompt: string) =>
  desk.launch(engine, { description: "A task", prompt, agent: engine.defaultAgent, batch: null });

export const when = (store: Store, task: Task, fits: (task: Task) => boolean) =>
  eventually(store, async () => {
    const now = await store.task(task.id);
    return now && fits(now) ? now : null;
  });
export const ended = (store: Store, task: Task) => when(store, task, (now) => !isLive(now.status));
export const working = (store: Store, task: Task) => when(store, task, ({ progress }) => progress.toolCalls > 0);
