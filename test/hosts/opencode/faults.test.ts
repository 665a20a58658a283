/**
 * The engine on the real OpenCode over an unreliable connection: what we report about a task stays true.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DEFAULT_SETTINGS } from "../../../src/engine/context.ts";
import { Engine } from "../../../src/engine/engine.ts";
import { PERSON } from "../../../src/engine/launch.ts";
import { Supervisor } from "../../../src/engine/supervisor.ts";
import { ask, delegate, gate, markerOf, type ScriptedScript, say } from "../../../src/hosts/scripted/script.ts";
import { isLive, type Task } from "../../../src/model/task.ts";
import { systemClock } from "../../../src/process/clock.ts";
import { sqliteStore } from "../../../src/store/open.ts";
import type { Store } from "../../../src/store/store.ts";
import { eventually } from "../../../src/testing/eventually.ts";
import { type OpenCodeBed, openCodeBed } from "./opencode-bed.ts";

const PATIENCE = 60_000;
const folder = mkdtempSync(join(tmpdir(), "asyncagents-faults-"));
let bed: OpenCodeBed;
let store: Store;
let engine: Engine;
let supervisor: Supervisor;
let isAnswerLost = false;
let lostEvents: string[] = [];

beforeAll(async () => {
  bed = await openCodeBed({
    send: (send) => async (request) => {
      const answer = await send(request);
      if (isAnswerLost && request.path.endsWith("/prompt_async")) throw new Error("The socket was closed");
      return answer;
    },
    delivers: (event) => !lostEvents.includes((event as { type: string }).type),
  });
  store = await sqliteStore({ directory: folder });
  const log = { info: () => {}, error: () => {} };
  supervisor = new Supervisor({ store, log, ...systemClock, isAlive: () => true, pollMs: 200 });
  engine = new Engine({
    store,
    supervisor,
    host: bed.host,
    instance: {
      id: "ins_faults",
      pid: process.pid,
      processStart: "0",
      bootId: "boot",
      pidNamespace: "",
      beat: 0,
      machine: "",
      leaseLeft: null,
      host: bed.host.kind,
      directory: bed.opencode.directory,
      startedAt: Date.now(),
    },
    settings: { ...DEFAULT_SETTINGS, pollMs: 200 },
    log,
    ...systemClock,
    newId: (prefix) => `${prefix}_${crypto.randomUUID()}`,
    wordNotices: () => ({ visible: "told", hidden: "" }),
    reach: () => {},
  });
  await engine.start();
}, PATIENCE);
afterAll(async () => {
  supervisor.stop();
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
  "a prompt whose response was lost is run, and ends with its result",
  async () => {
    isAnswerLost = true;
    const task = await launch(say("all the same"));
    const done = await when(task, ({ status }) => !isLive(status));
    isAnswerLost = false;
    expect(done).toMatchObject({ status: "completed", run: { result: "all the same" } });
  },
  PATIENCE,
);

test.each(["permission", "question"] as const)(
  "a %s whose event was lost is shown, can be answered, and is closed even if the reply event is lost too",
  async (asks) => {
    lostEvents = ["permission.asked", "question.asked", "permission.replied", "question.replied"];
    const task = await launch(ask(asks, "May I?"), gate(`after ${asks}`), say("thanks"));
    const waiting = await when(task, ({ phase }) => phase === "waiting");
    expect(waiting.phaseDetail).toMatchObject({ kind: "waiting", asks });
    const reply =
      asks === "permission"
        ? ({ kind: "permission", decision: "once", message: null } as const)
        : ({ kind: "question", answers: ["yes"] } as const);
    await engine.answerTask(waiting, reply);
    await bed.gate(`after ${asks}`).reachedBy(1);
    await when(task, ({ phase }) => phase === "working");
    bed.gate(`after ${asks}`).open();
    expect(await when(task, ({ status }) => !isLive(status))).toMatchObject({ status: "completed" });
    lostEvents = [];
  },
  PATIENCE,
);

test(
  "a request of a descendant session is found, even if its creation event was lost",
  async () => {
    lostEvents = ["permission.asked", "session.created", "session.updated"];
    bed.script("faults-below", [ask("permission", "May I?"), say("below")]);
    const task = await launch(delegate("faults-below"), say("thanks"));
    const waiting = await when(task, ({ phase }) => phase === "waiting");
    await engine.answerTask(waiting, { kind: "permission", decision: "once", message: null });
    expect(await when(task, ({ status }) => !isLive(status))).toMatchObject({ status: "completed" });
    lostEvents = [];
  },
  PATIENCE,
);
