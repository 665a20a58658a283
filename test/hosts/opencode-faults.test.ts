/** The engine on the real OpenCode over a line that loses things: what is said about a task stays true. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { awakeNow } from "../../src/engine/awake-clock.ts";
import { DEFAULT_SETTINGS } from "../../src/engine/context.ts";
import { Engine } from "../../src/engine/engine.ts";
import { PERSON } from "../../src/engine/launch.ts";
import { markerOf, type ScriptedScript, say } from "../../src/hosts/scripted-script.ts";
import { isLive, type Task } from "../../src/model/task.ts";
import { sqliteStore } from "../../src/store/open.ts";
import type { Store } from "../../src/store/store.ts";
import { eventually } from "../../src/testing/eventually.ts";
import { type OpenCodeBed, openCodeBed } from "./opencode-bed.ts";

const PATIENCE = 60_000;
const folder = mkdtempSync(join(tmpdir(), "asyncagents-faults-"));
let bed: OpenCodeBed;
let store: Store;
let engine: Engine;
let isAnswerLost = false;

beforeAll(async () => {
  bed = await openCodeBed({
    send: (send) => async (request) => {
      const answer = await send(request);
      if (isAnswerLost && request.path.endsWith("/prompt_async")) throw new Error("The socket was closed");
      return answer;
    },
  });
  store = await sqliteStore({ directory: folder });
  engine = new Engine({
    store,
    host: bed.host,
    instance: {
      id: "ins_faults",
      pid: process.pid,
      processStart: "0",
      bootId: "boot",
      host: bed.host.kind,
      directory: bed.opencode.directory,
      startedAt: Date.now(),
    },
    settings: { ...DEFAULT_SETTINGS, pollMs: 200 },
    log: { info: () => {}, error: () => {} },
    now: Date.now,
    monotonic: awakeNow,
    newId: (prefix) => `${prefix}_${crypto.randomUUID()}`,
    isAlive: () => true,
    wordNotices: () => ({ visible: "told", hidden: "" }),
    reach: () => {},
  });
  await engine.start();
}, PATIENCE);
afterAll(async () => {
  await engine.stop();
  await store.close();
  await bed.close();
  rmSync(folder, { recursive: true, force: true });
});

let scripts = 0;
async function launch(...steps: ScriptedScript): Promise<Task> {
  const name = `faults-${++scripts}`;
  bed.script(name, steps);
  const request = { description: "A task", prompt: markerOf(name), agent: bed.agent, fork: false, batch: null };
  return engine.launch(PERSON, request, await engine.checkLaunch(PERSON, request));
}

const when = (task: Task, fits: (task: Task) => boolean) =>
  eventually(store, async () => {
    const now = await store.task(task.id);
    return now && fits(now) ? now : null;
  });

test(
  "a prompt whose answer was lost on the way is worked off, and ends with its result",
  async () => {
    isAnswerLost = true;
    const task = await launch(say("all the same"));
    const done = await when(task, ({ status }) => !isLive(status));
    isAnswerLost = false;
    expect(done).toMatchObject({ status: "completed", run: { result: "all the same" } });
  },
  PATIENCE,
);
