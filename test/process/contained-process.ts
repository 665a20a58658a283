/**
 * A separate process for tests, optionally in its own pid namespace: `bun contained-process.ts <folder> [namespace]`.
 * An engine with the scripted host on the store in that folder launches a task that never moves, and sweeps for what
 * dead processes left. Prints its task's id on stdout; the end of stdin ends it.
 */

import { DEFAULT_SETTINGS } from "../../src/engine/context.ts";
import { Engine } from "../../src/engine/engine.ts";
import { PERSON } from "../../src/engine/launch.ts";
import { Supervisor } from "../../src/engine/supervisor.ts";
import { gate, markerOf, say } from "../../src/hosts/scripted/script.ts";
import { scriptedHost } from "../../src/hosts/scripted/scripted-host.ts";
import { systemClock } from "../../src/process/clock.ts";
import { instanceJudge, ownIdentity } from "../../src/process/liveness.ts";
import { sqliteStore } from "../../src/store/open.ts";

const [folder = "", namespace] = process.argv.slice(2);
const store = await sqliteStore({ directory: folder });
const host = scriptedHost();
for (let index = 0; index < 1_000; index++) host.sessions.newId("ses");
host.script("held", [gate("door"), say("let through")]);
const identity = { ...ownIdentity(), ...(namespace && { pidNamespace: namespace }) };
let ids = 0;
const log = { info: () => {}, error: () => {} };
const isAlive = instanceJudge();
const supervisor = new Supervisor({ store, log, ...systemClock, isAlive, pollMs: 20, beatMs: 20 });
const engine = new Engine({
  store,
  supervisor,
  host,
  instance: {
    id: "ins_contained",
    ...identity,
    beat: 0,
    machine: "",
    leaseLeft: null,
    host: host.kind,
    directory: "/inside",
    startedAt: Date.now(),
  },
  settings: { ...DEFAULT_SETTINGS, pollMs: 20 },
  log,
  ...systemClock,
  newId: (prefix) => `${prefix}_contained_${++ids}`,
  wordNotices: () => ({ visible: "told", hidden: "" }),
  reach: () => {},
});
await engine.start();
const request = { description: "inside", prompt: markerOf("held"), agent: "general", fork: false, batch: null };
const task = await engine.launch(PERSON, request, await engine.checkLaunch(PERSON, request));
await host.gate("door").reachedBy(1);
await supervisor.recover();
process.stdout.write(`${task.id}\n`);
for await (const _ of process.stdin) {
  // Only its end counts.
}
process.exit(0);
