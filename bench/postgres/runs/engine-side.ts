/**
 * Child process: our side of the benchmark of runs. A runner on a scripted host that answers at once; the tasks are
 * queued in the same process. The variant: tasks of sessions, ten each. A notice is stored with the end of each, and
 * delivered meanwhile.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Caller } from "../../../src/engine/launch.ts";
import { call, markerOf, say } from "../../../src/hosts/scripted/script.ts";
import { type ScriptedHost, scriptedHost } from "../../../src/hosts/scripted/scripted-host.ts";
import { postgresStore } from "../../../src/store/open.ts";
import type { Store } from "../../../src/store/store.ts";
import { answerCalls } from "../../child-process.ts";
import { MACHINE, scriptedRunner } from "../scripted-runner.ts";
import { PROMPT, perSecond, RESULT, type Round, type SideCalls, sendAll } from "./side.ts";

const TASKS_OF_A_SESSION = 10;
const LOOK_MS = 20;

interface Opened {
  store: Store;
  host: ScriptedHost;
  runner: Awaited<ReturnType<typeof scriptedRunner>>;
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
    const runner = await scriptedRunner({ store, host, directory: folder, max: atOnce });
    runner.engine.onEnded(() => onEnd());
    opened = { store, host, runner, folder };
  },
  async round(input) {
    const bed = bedOf();
    const all = Promise.withResolvers<void>();
    let ended = 0;
    onEnd = () => {
      if (++ended === input.jobs) all.resolve();
    };
    const callers = input.kind === "plain" ? [] : await sessionsFor(bed, input);
    const prompt = `${PROMPT}${markerOf("work")}`;
    const started = performance.now();
    await sendAll(input, (number) =>
      bed.runner.enqueue(`look into the build, ${number}`, prompt, callers[number % callers.length]),
    );
    await all.promise;
    const rate = perSecond(input, started);
    // A message is sent when its parent has taken the one before: that takes its time, and is no part of a run.
    if (callers.length > 0) while ((await bed.store.parentsWithNotices()).length > 0) await Bun.sleep(LOOK_MS);
    return rate;
  },
  async close() {
    const { runner, store, folder } = bedOf();
    await runner.stop();
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  },
};

function bedOf(): Opened {
  if (opened === null) throw new Error("It was not opened.");
  return opened;
}

async function sessionsFor({ store, host, runner }: Opened, { jobs }: Round): Promise<Caller[]> {
  const callers: Caller[] = [];
  for (let count = 0; count < jobs; count += TASKS_OF_A_SESSION) {
    const sessionId = host.openSession();
    const session = { sessionId, agent: "general", model: null, variant: null };
    const handler = runner.engine.instance.id;
    await store.putParent({ ...session, host: "scripted", machine: MACHINE, handler, seenAt: Date.now() });
    callers.push({ ...session, messageId: host.newMessageId() });
  }
  return callers;
}

answerCalls(calls);
