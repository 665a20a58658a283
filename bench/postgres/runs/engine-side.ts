/**
 * Child process: our side of the benchmark of runs. It is composed as `asyncagents runner`, with its leases, the feed
 * and the transcripts, on a scripted host in memory that answers at once. The tasks are queued in the same process. The
 * variant: tasks of sessions, ten each. A notice is stored with the end of each, and delivered meanwhile.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Caller, PERSON } from "../../../src/engine/launch.ts";
import { Claimer } from "../../../src/engine/queue/claimer.ts";
import { enqueueTask } from "../../../src/engine/queue/enqueue.ts";
import { Runner } from "../../../src/engine/runner.ts";
import { call, markerOf, say } from "../../../src/hosts/scripted/script.ts";
import { type ScriptedHost, scriptedHost } from "../../../src/hosts/scripted/scripted-host.ts";
import { systemClock } from "../../../src/process/clock.ts";
import { instanceJudge } from "../../../src/process/liveness.ts";
import { makeId } from "../../../src/process/make-id.ts";
import { postgresStore } from "../../../src/store/open.ts";
import type { Store } from "../../../src/store/store.ts";
import { answerCalls } from "../../child-process.ts";
import { PROMPT, perSecond, RESULT, type Round, type SideCalls, sendAll } from "./side.ts";

const MACHINE = "mac_bench";
const TASKS_OF_A_SESSION = 10;
const LOOK_MS = 20;
const log = {
  info() {},
  error: (message: string, details?: object) => console.error(message, details ?? ""),
};

interface Opened {
  store: Store;
  host: ScriptedHost;
  runner: Runner;
  claimer: Claimer;
  /** The instance that the sessions live in. */
  instance: string;
  folder: string;
}

let opened: Opened | null = null;
/** Called when a run has ended. */
let onEnd = () => {};

const calls: SideCalls = {
  async open({ connectionString, schema, atOnce }) {
    const folder = mkdtempSync(join(tmpdir(), "asyncagents-bench-runs-"));
    const store = await postgresStore({ connectionString, schema });
    const host = scriptedHost();
    host.script("work", [call("bash", { output: "done" }), say(RESULT)]);
    const isAlive = instanceJudge({ machine: MACHINE });
    const runner = new Runner({ store, log, makers: [makerOf(host)], machine: MACHINE, isAlive });
    const engine = await runner.open("scripted", folder);
    engine.onEnded(() => onEnd());
    const claimer = new Claimer({
      ...systemClock,
      store,
      log,
      offer: { id: makeId("run"), hosts: ["scripted"], labels: [], machine: MACHINE, max: atOnce, limits: {} },
      engines: () => runner.engines(),
      open: (kind, directory) => runner.open(kind, directory),
      onEntries: (listener) => runner.onEntries(listener),
      onEnded: (listener) => runner.onEnded(listener),
      folderOf: async ({ task }) => task.directory,
    });
    claimer.start();
    opened = { store, host, runner, claimer, instance: engine.instance.id, folder };
  },
  async round(input) {
    const bed = bedOf();
    const all = Promise.withResolvers<void>();
    let ended = 0;
    onEnd = () => {
      if (++ended === input.jobs) all.resolve();
    };
    const callers = input.kind === "plain" ? [] : await sessionsFor(bed, input);
    const started = performance.now();
    await sendAll(input, (number) => enqueue(bed, number, callers[number % callers.length] ?? PERSON));
    await all.promise;
    const rate = perSecond(input, started);
    // A message is sent when its parent has taken the one before: that takes its time, and is no part of a run.
    if (callers.length > 0) while ((await bed.store.parentsWithNotices()).length > 0) await Bun.sleep(LOOK_MS);
    return rate;
  },
  async close() {
    const { claimer, runner, store, folder } = bedOf();
    await claimer.stop();
    await runner.stop();
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  },
};

function makerOf(host: ScriptedHost) {
  const nothing = async () => {};
  return { kind: host.kind, problem: async () => null, open: async () => ({ host, close: nothing }), stop: nothing };
}

function bedOf(): Opened {
  if (opened === null) throw new Error("It was not opened.");
  return opened;
}

function enqueue({ store, folder }: Opened, number: number, caller: Caller) {
  const context = { store, machine: MACHINE, now: systemClock.now, newId: makeId };
  return enqueueTask(context, caller, {
    host: "scripted",
    agent: "",
    description: `look into the build, ${number}`,
    prompt: `${PROMPT}${markerOf("work")}`,
    batch: null,
    folder: { directory: folder, source: null },
    choices: {},
  });
}

async function sessionsFor({ store, host, instance }: Opened, { jobs }: Round): Promise<Caller[]> {
  const callers: Caller[] = [];
  for (let count = 0; count < jobs; count += TASKS_OF_A_SESSION) {
    const sessionId = host.openSession();
    const session = { sessionId, agent: "general", model: null, variant: null };
    const parent = { ...session, host: "scripted", machine: MACHINE, handler: instance, seenAt: systemClock.now() };
    await store.putParent(parent);
    callers.push({ ...session, messageId: host.newMessageId() });
  }
  return callers;
}

answerCalls(calls);
