/**
 * A program with a parent session on the scripted host, which is on disk like those of real hosts. It launches a task
 * for each name that it reads, and is told how each one ended, also after it was killed and started again.
 * Arguments: the connection string, the data folder, the folder to work in.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { createEngine } from "../../../src/engine/create-engine.ts";
import { scriptedHosts } from "../../../src/hosts/scripted/scripted-hosts.ts";
import { messageOf } from "../../../src/model/errors.ts";
import { openLog } from "../../../src/process/data-folder.ts";
import { machineOf } from "../../../src/process/machine.ts";
import { postgresStore } from "../../../src/store/open.ts";

const [connectionString = "", data = "", work = ""] = process.argv.slice(2);
const AGENT = { agent: "general", model: null };

const machine = machineOf(data);
const store = await postgresStore({ connectionString });
const hosts = scriptedHosts({ folder: join(data, "scripted") });
const { host } = await hosts.open(work);
const engine = createEngine({ store, host, machine, directory: work, log: openLog(data) });
await engine.start();

const file = join(data, "parent");
const isNew = !existsSync(file);
const sessionId = isNew ? hosts.sessions.add({ title: "parent" }).id : readFileSync(file, "utf8");
const messageId = host.newMessageId();
if (isNew) {
  await host.prompt(sessionId, { messageId, text: "Hello", ...AGENT });
  writeFileSync(file, sessionId);
}
// As a door does when a person types: this process handles the parent from now on.
await engine.handles({ sessionId, messageId, ...AGENT, variant: null });
await engine.recover();
console.log(`ready ${sessionId}`);

for await (const line of createInterface({ input: process.stdin })) {
  const { name, prompt } = JSON.parse(line) as { name: string; prompt: string };
  const caller = { sessionId, messageId, ...AGENT, variant: null };
  const request = { description: name, prompt, agent: AGENT.agent, fork: false, batch: null };
  void (async () => engine.launch(caller, request, await engine.checkLaunch(caller, request)))()
    .then(({ id }) => console.log(`launched ${name} ${id}`))
    .catch((thrown: unknown) => console.log(`refused ${name} ${messageOf(thrown)}`));
}
