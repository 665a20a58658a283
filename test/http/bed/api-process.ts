/**
 * A separate process for tests: `bun api-process.ts <folder> <directory>`: an engine with the scripted host and a
 * status API on the store in that folder. Prints `ready` on stdout. Its agents say "said by <pid>" after calling a
 * tool, unless the prompt names the script `held`, `asking` or `long`. A line `open <gate>` on stdin opens a gate;
 * after `hang`, which it confirms with `holds`, answers to agents wait for `go`; the end of stdin ends the process.
 */
import { createInterface } from "node:readline";
import { remoteOperations } from "../../../src/board/remote-operations.ts";
import { DEFAULT_SETTINGS } from "../../../src/engine/context.ts";
import { Desk } from "../../../src/engine/desk.ts";
import { Engine } from "../../../src/engine/engine.ts";
import { CallPerformer } from "../../../src/engine/remote/call-performer.ts";
import { Supervisor } from "../../../src/engine/supervisor.ts";
import { Overview } from "../../../src/engine/watching/overview.ts";
import type { Host } from "../../../src/hosts/host.ts";
import { ask, call, gate, say } from "../../../src/hosts/scripted/script.ts";
import { type ScriptedHost, scriptedHost } from "../../../src/hosts/scripted/scripted-host.ts";
import { callPerformance } from "../../../src/http/handlers/perform-call.ts";
import { startApiServer } from "../../../src/http/server.ts";
import { systemClock } from "../../../src/process/clock.ts";
import { isInstanceAlive, ownIdentity } from "../../../src/process/liveness.ts";
import { makeId } from "../../../src/process/make-id.ts";
import { sqliteStore } from "../../../src/store/open.ts";

const [folder = "", directory = "/other", heartbeat] = process.argv.slice(2);
const log = { info: () => {}, error: () => {} };

const store = await sqliteStore({ directory: folder });
const scripted = scriptedHost({ agents: ["general"] });
let held: PromiseWithResolvers<void> | null = null;
const host = {
  ...scripted,
  async answer(...parameters: Parameters<NonNullable<Host["answer"]>>) {
    if (held) console.log("hangs");
    await held?.promise;
    return scripted.answer?.(...parameters) ?? false;
  },
} as ScriptedHost;
// Its session ids differ from those of the test's own process.
for (let index = 0; index < 1_000_000; index++) host.sessions.newId("ses");
host.script("short", [call("bash"), say(`said by ${process.pid}`)]);
host.script("held", [call("bash", { output: "sk-secret" }), gate("door"), say("let through")]);
host.script("long", [
  ...Array.from({ length: 6 }, () => call("bash", { output: "long ".repeat(60_000) })),
  gate("door"),
]);
host.script("asking", [ask("permission", "May I?"), say("thanks")]);
const identity = ownIdentity();
let ids = 0;
const supervisor = new Supervisor({ store, log, ...systemClock, isAlive: isInstanceAlive });
const engine = new Engine({
  store,
  supervisor,
  host,
  log,
  instance: {
    id: `ins_of_${process.pid}`,
    ...identity,
    beat: 0,
    machine: "",
    leaseLeft: null,
    host: "scripted",
    directory,
    startedAt: Date.now(),
  },
  settings: DEFAULT_SETTINGS,
  ...systemClock,
  newId: (prefix) => `${prefix}_${process.pid}_${++ids}`,
  wordNotices: () => ({ visible: "told", hidden: "" }),
  reach: () => {},
});
await engine.start();
const desk = new Desk({ store, isAlive: isInstanceAlive, engines: () => [engine] });
const overview = new Overview(store);
const options = heartbeat === undefined ? {} : { heartbeatMs: Number(heartbeat) };
const instances = () => [engine.instance.id];
const remote = remoteOperations({
  ...systemClock,
  store,
  log,
  instances,
  newId: makeId,
  isAlive: isInstanceAlive,
  machine: "",
});
const noBoard = { board: null, assertWorkplace: null, assertRepo: null, maxDepth: undefined };
const perform = callPerformance({ overview, desk, ...noBoard });
const performer = new CallPerformer({ ...systemClock, store, log, instances, perform });
performer.start();
const server = startApiServer({ overview, desk, remote, directory: folder, log, port: 0, origins: [], ...options });
console.log(`ready ${server.url}`);

for await (const line of createInterface({ input: process.stdin })) {
  const [command, name = ""] = line.split(" ");
  if (command === "open") host.gate(name).open();
  if (command === "hang") {
    held = Promise.withResolvers();
    console.log("holds");
  }
  if (command === "go") held?.resolve();
  if (command === "memory") {
    Bun.gc(true);
    console.log(`memory ${process.memoryUsage().rss}`);
  }
}
await performer.stop();
await server.stop();
supervisor.stop();
await engine.stop();
await store.close();
process.exit(0);
