import { expect, onTestFinished, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DEFAULT_SETTINGS } from "../../src/engine/context.ts";
import { createEngine, engineContext } from "../../src/engine/create-engine.ts";
import { PERSON } from "../../src/engine/launch.ts";
import { scriptedHost } from "../../src/hosts/scripted/scripted-host.ts";
import { sqliteStore } from "../../src/store/open.ts";
import type { Store } from "../../src/store/store.ts";

async function newStore(): Promise<Store> {
  const directory = mkdtempSync(join(tmpdir(), "asyncagents-create-"));
  const store = await sqliteStore({ directory });
  onTestFinished(async () => {
    await store.close();
    rmSync(directory, { recursive: true, force: true });
  });
  return store;
}

test("a store and a host are enough for a task from its launch to its end", async () => {
  const store = await newStore();
  const engine = createEngine({ store, host: scriptedHost() });
  await engine.start();
  expect(await engine.recover()).toBe(true);
  const request = {
    description: "a greeting",
    prompt: "say hello",
    agent: engine.defaultAgent,
    fork: false,
    batch: null,
  };
  const task = await engine.launch(PERSON, request, await engine.checkLaunch(PERSON, request));
  const ended = await engine.untilTold(task, AbortSignal.timeout(10_000));
  expect([ended.status, ended.run.result]).toEqual(["completed", "ok"]);
  expect(ended.directory).toBe(process.cwd());
  await engine.stop();
  expect(await store.instances()).toEqual([]);
});

test("what is given takes the place of a default, and undefined does not", async () => {
  const store = await newStore();
  const host = scriptedHost();
  const context = engineContext({
    store,
    host,
    directory: "/elsewhere",
    settings: { maxDepth: 3 },
    now: () => 5,
    newId: (prefix) => `${prefix}_mine`,
    log: undefined,
  });
  expect(context.settings).toEqual({ ...DEFAULT_SETTINGS, maxDepth: 3 });
  expect(context.instance).toMatchObject({
    id: "ins_mine",
    host: host.kind,
    directory: "/elsewhere",
    startedAt: 5,
    pid: process.pid,
  });
  context.log.info("goes nowhere");
  const words = context.wordNotices([]);
  expect(words.visible).toBe("");
  const shared = engineContext({ store, host, supervisor: context.supervisor });
  expect(shared.supervisor).toBe(context.supervisor);
});
