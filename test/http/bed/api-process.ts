/**
 * A separate process for tests: `bun api-process.ts <folder> <directory>`: an engine with the scripted host and a
 * status API on the store in that folder. Prints `ready` on stdout. Its agents say "said by <pid>" after calling a
 * tool, unless the prompt names the script `held` or `asking`. A line `open <gate>` on stdin opens a gate; the end of
 * stdin ends the process.
 */
import { createInterface } from "node:readline";
import { DEFAULT_SETTINGS } from "../../../src/engine/context.ts";
import { Desk } from "../../../src/engine/desk.ts";
import { Engine } from "../../../src/engine/engine.ts";
import { Supervisor } from "../../../src/engine/supervisor.ts";
import { Overview } from "../../../src/engine/watching/overview.ts";
import { ask, call, gate, say } from "../../../src/hosts/scripted/script.ts";
import { scriptedHost } from "../../../src/hosts/scripted/scripted-host.ts";
import { startApiServer } from "../../../src/http/server.ts";
import { systemClock } from "../../../src/process/clock.ts";
import { isInstanceAlive, ownIdentity } from "../../../src/process/liveness.ts";
import { sqliteStore } from "../../../src/store/open.ts";

const [folder = "", directory = "/other", heartbeat] = process.argv.slice(2);
const log = { info: () => {}, error: () => {} };

const store = await sqliteStore({ directory: folder });
const host = scriptedHost({ agents: ["general"] });
// Its session ids differ from those of the test's own process.
for (let index = 0; index < 1_000_000; index++) host.sessions.newId("ses");
host.script("short", [call("bash"), say(`said by ${process.pid}`)]);
host.script("held", [call("bash", { output: "sk-secret" }), gate("door"), say("let through")]);
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
  isAlive: isInstanceAlive,
  wordNotices: () => ({ visible: "told", hidden: "" }),
  reach: () => {},
});
await engine.start();
const desk = new Desk({ store, isAlive: isInstanceAlive, engines: () => [engine] });
const overview = new Overview(store);
const options = heartbeat === undefined ? {} : { heartbeatMs: Number(heartbeat) };
const server = startApiServer({ overview, desk, directory: folder, log, port: 0, origins: [], ...options });
console.log(`ready ${server.url}`);

for await (const line of createInterface({ input: process.stdin })) {
  const [command, name = ""] = line.split(" ");
  if (command === "open") host.gate(name).open();
  if (command === "memory") {
    Bun.gc(true);
    console.log(`memory ${process.memoryUsage().rss}`);
  }
}
await server.stop();
supervisor.stop();
await engine.stop();
await store.close();
process.exit(0);
