/**
 * Two runners with the real OpenCode, each on a machine of its own, and one of them is killed while its agents work:
 * each task ends exactly once, as the transcripts in OpenCode and the requests to the scripted model show it.
 */
import { afterAll, expect } from "bun:test";
import type { Client } from "../../../src/client/client.ts";
import { INTERRUPTED } from "../../../src/model/evidence.ts";
import { isLive, type Task } from "../../../src/model/task.ts";
import { machineOf } from "../../../src/process/machine.ts";
import { eventually } from "../../../src/testing/eventually.ts";
import { type OpenAiModel, startOpenAiModel } from "../../../src/testing/models/openai-model.ts";
import { call, gate, say, scriptMarker } from "../../../src/testing/models/script.ts";
import { openCodeBinary } from "../../../src/testing/opencode/binary.ts";
import { prepareHome } from "../../../src/testing/opencode/home.ts";
import { cleanEnvironment } from "../../../src/testing/opencode/process.ts";
import { startPostgresServer } from "../../store/postgres-server.ts";
import { type Attempt, attemptsOf, isEnd, type Loss, Losses, takeovers } from "./attempts.ts";
import { eventsOf, storedTasks } from "./checks.ts";
import { Fleet } from "./fleet.ts";
import { type Seen, watchDatabase } from "./witness.ts";

const nameOf = (index: number) => `t${String(index).padStart(4, "0")}`;
const retriesOf = ({ description }: Task) => Number(description.slice(1)) % 2;

export async function playOpenCodeFleet(count: number): Promise<void> {
  // Some tasks wait in the queue.
  const atOnce = Math.floor(count * 0.4) + 1;
  const model = startOpenAiModel();
  afterAll(() => model.stop());
  const { connectionString } = await startPostgresServer();
  const { HOME: _home, ...environment } = cleanEnvironment("");
  const fleet = await Fleet.open({
    connectionString,
    host: "opencode",
    environment: { ...environment, ASYNCAGENTS_OPENCODE: openCodeBinary() },
  });
  const seenBy = await watchDatabase(connectionString);
  for (const machine of ["one", "two"]) await prepareHome(fleet.home(machine), { model });
  for (let index = 0; index < count; index++) await enqueue(fleet, model, nameOf(index), index % 2);
  const [one] = await Promise.all([fleet.runner("one", atOnce), fleet.runner("two", atOnce)]);
  const server = await fleet.server("three");

  const atWork = await eventually(fleet.store, async () => {
    const working = (await storedTasks(fleet)).filter(({ phase }) => phase === "working");
    return working.length === Math.min(count, 2 * atOnce) ? working : null;
  });
  const there = machineOf(fleet.data("one"));
  const lost = atWork.filter(({ machine }) => machine === there).map(({ description }) => model.gate(description));
  await Promise.all(lost.map(({ reached }) => reached));
  const loss: Loss = { pid: one.pid, at: Date.now(), wokenAt: null, takers: "same" };
  one.kill("SIGKILL");
  // OpenCode ends with its runner: nothing works on unseen.
  await Promise.all(lost.map(({ left }) => left));
  await fleet.runner("one", atOnce);
  for (let index = 0; index < count; index++) model.gate(nameOf(index)).open();
  const tasks = await eventually(fleet.store, async () => {
    const stored = await storedTasks(fleet);
    return stored.some(({ status }) => isLive(status)) ? null : stored;
  });

  const seen = await seenBy();
  const losses = new Losses([loss], seen);
  const wrong: string[] = [];
  for (const task of tasks)
    wrong.push(...(await checkTask(task, { fleet, model, client: server.client, seen, losses })));
  const attempts = tasks.flatMap(({ id }) => attemptsOf(eventsOf(seen, id)));
  const taken = takeovers(losses, attempts, seen).map(({ ms }) => ms);
  const interrupted = tasks.filter(({ status }) => status === "error").length;
  console.log(
    `OpenCode: ${tasks.length} tasks, ${interrupted} interrupted; ${taken.length} runs taken over, at most ${Math.max(...taken)} ms`,
  );
  expect(wrong).toEqual([]);
  expect([tasks.length, taken.length]).toEqual([count, lost.length]);
}

async function enqueue(fleet: Fleet, model: OpenAiModel, name: string, retries: number): Promise<void> {
  const touch = (folder: string) => call("bash", { command: `touch ${folder}/${name}`, description: "Leaves a sign" });
  model.script(name, [touch("begun"), gate(name), touch("done"), say(`done ${name}`)]);
  await fleet.enqueue(name, `${scriptMarker(name)} Work`, retries);
}

interface Surroundings {
  fleet: Fleet;
  model: OpenAiModel;
  client: Client;
  seen: Seen;
  losses: Losses;
}

async function checkTask(task: Task, { fleet, model, client, seen, losses }: Surroundings): Promise<string[]> {
  const { id, description: name, status, run } = task;
  const events = eventsOf(seen, id);
  const attempts = attemptsOf(events);
  const wrong: string[] = [];
  if (events.filter(isEnd).length !== 1) wrong.push("did not end once");
  const cutShort = attempts.filter(({ over }) => over?.type !== "run.completed");
  for (const { owner, over } of cutShort) {
    if (losses.of(owner, over?.at ?? 0) === null) wrong.push("was interrupted although its process lived");
  }
  for (const { sessionId } of attempts) {
    const prompted = model
      .requestsOf(sessionId)
      .at(-1)
      ?.request.userTexts.filter((text) => text.includes(name));
    if (prompted?.length !== 1) wrong.push(`was prompted ${prompted?.length} times in ${sessionId}`);
  }
  if (attempts.length !== 1 + Math.min(cutShort.length, retriesOf(task))) wrong.push(`began ${attempts.length} times`);
  const hasEnded = JSON.stringify((await client.logs(id)).messages).includes(`"done ${name}"`);
  const hasDone = fleet.signs("done").has(name);
  const expected = (status === "completed") === hasLived(attempts) && hasEnded === hasLived(attempts);
  if (!expected || hasDone !== hasEnded) wrong.push(`is ${status}; its agent ended: ${hasEnded}, it wrote: ${hasDone}`);
  if (status === "completed" ? run.result !== `done ${name}` : run.error !== INTERRUPTED)
    wrong.push(`says ${run.error}`);
  return wrong.map((what) => `${name} ${what}`);
}

/** Whether the last attempt was not cut short. */
function hasLived(attempts: readonly Attempt[]): boolean {
  return attempts.at(-1)?.over?.type === "run.completed";
}
