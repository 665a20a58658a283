/**
 * A runner for benchmarks: composed as `asyncagents runner`, with its lease, the feed and transcripts, on a scripted
 * host in memory.
 */
import { RUNNER_HOST } from "../../src/engine/desk.ts";
import type { Engine } from "../../src/engine/engine.ts";
import { type Caller, PERSON } from "../../src/engine/launch.ts";
import { Claimer } from "../../src/engine/queue/claimer.ts";
import { enqueueTask } from "../../src/engine/queue/enqueue.ts";
import { Runner } from "../../src/engine/runner.ts";
import type { ScriptedHost } from "../../src/hosts/scripted/scripted-host.ts";
import { systemClock } from "../../src/process/clock.ts";
import { instanceJudge, ownIdentity } from "../../src/process/liveness.ts";
import { makeId } from "../../src/process/make-id.ts";
import type { Store } from "../../src/store/store.ts";

export const MACHINE = "mac_bench";

const log = {
  info() {},
  error: (message: string, details?: object) => console.error(message, details ?? ""),
};

interface RunnerInput {
  store: Store;
  host: ScriptedHost;
  directory: string;
  /** How many tasks it does at once. */
  max: number;
}

interface ScriptedRunner {
  engine: Engine;
  claimer: Claimer;
  /** Queues a task for it. */
  enqueue(description: string, prompt: string, caller?: Caller): Promise<unknown>;
  stop(): Promise<void>;
}

export async function scriptedRunner({ store, host, directory, max }: RunnerInput): Promise<ScriptedRunner> {
  const nothing = async () => {};
  const open = async () => ({ host, close: nothing });
  const maker = { kind: host.kind, problem: async () => null, open, stop: nothing };
  const isAlive = instanceJudge({ machine: MACHINE });
  const runner = new Runner({ store, log, makers: [maker], machine: MACHINE, isAlive });
  const id = makeId("run");
  const place = { host: RUNNER_HOST, directory, machine: MACHINE, startedAt: systemClock.now() };
  await runner.register({ id, ...ownIdentity(), beat: 0, leaseLeft: null, ...place });
  const engine = await runner.open(host.kind, directory);
  const claimer = new Claimer({
    ...systemClock,
    store,
    log,
    offer: { id, name: "bench", hosts: [host.kind], labels: [], machine: MACHINE, max, limits: {} },
    engines: () => runner.engines(),
    open: (kind, folder) => runner.open(kind, folder),
    onEntries: (listener) => runner.onEntries(listener),
    onEnded: (listener) => runner.onEnded(listener),
    mayAct: () => runner.holdsLease(id),
    folderOf: async ({ task }) => ({ directory: task.directory, clone: null }),
  });
  claimer.start();
  return {
    engine,
    claimer,
    enqueue(description, prompt, caller = PERSON) {
      const context = { store, machine: MACHINE, now: systemClock.now, newId: makeId };
      const folder = { directory, repository: null, bound: null };
      const request = { host: host.kind, agent: "", description, prompt, batch: null, folder, choices: {} };
      return enqueueTask(context, caller, request);
    },
    async stop() {
      await claimer.stop();
      await runner.stop();
    },
  };
}
