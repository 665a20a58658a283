/**
 * The daemon's Claude hosts on the real CLI: the default agent, and the permissions that people are asked for.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Desk } from "../../../src/engine/desk.ts";
import { Runner } from "../../../src/engine/runner.ts";
import { claudeHosts } from "../../../src/hosts/claude/claude-hosts.ts";
import { isLive, type Task } from "../../../src/model/task.ts";
import { sqliteStore } from "../../../src/store/open.ts";
import type { Store } from "../../../src/store/store.ts";
import { eventually } from "../../../src/testing/eventually.ts";
import * as model from "../../../src/testing/models/script.ts";
import { type ClaudeBed, claudeBed } from "./claude-bed.ts";

const PATIENCE = 60_000;
const log = { info: () => {}, error: () => {} };
let bed: ClaudeBed;
let store: Store;
let runner: Runner;

beforeAll(async () => {
  bed = await claudeBed();
  store = await sqliteStore({ directory: join(bed.home.root, "store") });
  const maker = claudeHosts({ folder: join(bed.home.root, "claude"), environment: bed.home.environment, log });
  runner = new Runner({ store, log, makers: [maker] });
}, PATIENCE);
afterAll(async () => {
  await runner.stop();
  await store.close();
  await bed.close();
});

const when = (task: Task, fits: (task: Task) => boolean) =>
  eventually(store, async () => {
    const now = await store.task(task.id);
    return now && fits(now) ? now : null;
  });

test(
  "Claude itself edits without asking; a permission given for always is asked once, and adds no rule to the directory",
  async () => {
    const { directory } = bed.home;
    const engine = await runner.open("claude", directory);
    const desk = new Desk({ store, engines: () => [engine], isAlive: () => true });
    expect([engine.defaultAgent, (await engine.agents())[0]?.name]).toEqual(["claude", "claude"]);
    // Listing agents starts a Claude process: concurrent calls share it.
    const [first, second] = await Promise.all([engine.agents(), engine.agents()]);
    expect([second === first, (await engine.agents()) === first]).toEqual([true, true]);
    const link = model.call("Bash", { command: "ln -sf notes.txt asked.txt", description: "Makes a link" });
    const write = model.call("Write", { file_path: join(directory, "written.txt"), content: "by Claude" });
    bed.model.script("daemon", [write, link, link, model.say("made")]);
    const prompt = model.scriptMarker("daemon");
    const task = await desk.launch(engine, { description: "A task", prompt, agent: engine.defaultAgent, batch: null });
    const waiting = await when(task, ({ phase, status }) => phase === "waiting" || !isLive(status));
    expect(waiting.phaseDetail).toMatchObject({ kind: "waiting", asks: "permission" });
    expect(readFileSync(join(directory, "written.txt"), "utf8")).toBe("by Claude");
    await engine.answerTask(waiting, { kind: "permission", decision: "always", message: null });
    expect(await when(task, ({ status }) => !isLive(status))).toMatchObject({
      status: "completed",
      run: { result: "made" },
    });
    const asked = (await store.feed(0, 500)).filter(
      ({ event }) => event.type === "run.phased" && event.phase === "waiting",
    );
    expect(asked).toHaveLength(1);
    expect(existsSync(join(directory, ".claude", "settings.local.json"))).toBe(false);
  },
  PATIENCE,
);
