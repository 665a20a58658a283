/**
 * What happens to ACP agents that the host suite does not test: processes that die or freeze, the shells of their
 * tools, sessions that cannot be continued, and many at once. On Codex, the lightest of them.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { isInterruption, judge, judgeInterrupted } from "../../../src/model/evidence.ts";
import { Stage } from "../../../src/testing/conformance/host/stage.ts";
import * as model from "../../../src/testing/models/script.ts";
import { type AcpBed, acpBed } from "./acp-bed.ts";
import { codex } from "./agents/codex.ts";
import { commandOf, leftProcesses, memoryOf, processesOf } from "./left-processes.ts";

const PATIENCE = 120_000;
const stage = new Stage();
let bed: AcpBed;
beforeAll(async () => {
  bed = await acpBed(codex);
  stage.open(bed);
});
afterAll(() => stage.close());

const check = (title: string, work: () => Promise<void>) => test(title, work, PATIENCE);

let scripts = 0;
function script(...steps: model.Script): string {
  const name = `own-${++scripts}`;
  bed.model.script(name, steps);
  return model.scriptMarker(name);
}

const shell = (cmd: string) => model.call("exec_command", { cmd, yield_time_ms: 250_000 });

/** The process that was started, which leads a group of its own. */
function agentProcess(): number {
  const found = processesOf(bed.root).find((pid) => commandOf(pid).includes("codex-acp"));
  if (found === undefined) throw new Error("no agent is running");
  return found;
}

async function started(name: string): Promise<void> {
  for (let round = 0; round < 300; round++) {
    if (processesOf(bed.root).some((pid) => commandOf(pid).startsWith(name))) return;
    await Bun.sleep(100);
  }
  throw new Error(`${name} was not started`);
}

check("an agent that is killed in mid-turn was interrupted, and the shell of its tool is gone", async () => {
  const session = await stage.session();
  const run = await stage.prompt(session, script(shell("sleep 611"), model.say("unheard")));
  await started("sleep 611");
  process.kill(agentProcess(), "SIGKILL");
  await stage.event("session.idle", (event) => event.sessionId === session);
  const evidence = await stage.host.inspect(session, run);
  expect(isInterruption(evidence.error?.message ?? null)).toBe(true);
  expect(judge(evidence, null).outcome).toBe("error");
  expect(await leftProcesses(bed.root)).toEqual([]);
  // The same session goes on afterwards.
  const next = await stage.run(session, script(model.say("back")));
  expect((await stage.host.inspect(session, next)).answer).toEqual({ text: "back" });
});

check("abort ends the shell of a tool, which Codex itself leaves behind", async () => {
  const session = await stage.session();
  const run = await stage.prompt(session, script(shell("sleep 612"), model.say("unheard")));
  await started("sleep 612");
  await stage.host.abort(session);
  expect(judge(await stage.host.inspect(session, run), null).outcome).toBe("cancelled");
  expect(await leftProcesses(bed.root)).toEqual([]);
});

check("a frozen agent is ended within its limit", async () => {
  const host = bed.another({ silentMs: 3_000 });
  const idle = Promise.withResolvers<void>();
  host.onEvent((event) => {
    if (event.type === "session.idle") idle.resolve();
    if (event.type === "message.taken") process.kill(-agentProcess(), "SIGSTOP");
  });
  const session = await bed.openSession();
  const messageId = host.newMessageId();
  const text = script(shell("echo one"), model.gate("frozen"), model.say("unheard"));
  await host.prompt(session, { messageId, text, agent: bed.agent, model: null });
  await idle.promise;
  const evidence = await host.inspect(session, messageId);
  expect(evidence.error?.message).toContain("sent nothing for 0.1 minutes");
  expect(await leftProcesses(bed.root)).toEqual([]);
  await host.close();
});

check("when the program that runs the host is killed, nothing is left, and the run shows no answer", async () => {
  const messageId = stage.host.newMessageId();
  const given = {
    directory: bed.directory,
    folder: join(bed.root, "transcripts"),
    agent: bed.agent,
    settings: bed.settings,
    environment: bed.environment,
    text: script(shell("sleep 613"), model.say("unheard")),
    messageId,
    launch: "killed",
  };
  const child = Bun.spawn([process.execPath, join(import.meta.dir, "acp-child.ts")], {
    stdin: Buffer.from(JSON.stringify(given)),
    stdout: "inherit",
    stderr: "inherit",
  });
  await started("sleep 613");
  child.kill("SIGKILL");
  await child.exited;
  expect(await leftProcesses(bed.root)).toEqual([]);
  const session = await stage.host.findLaunched?.({ launchId: "killed", parentSessionId: "", at: 0 });
  const evidence = await stage.host.inspect(session ?? "", messageId);
  // Whether the call had been told to the program when it was killed is not known.
  expect(evidence).toMatchObject({ prompted: true, answer: null, error: null });
  expect(isInterruption((judgeInterrupted(evidence) as { error: string }).error)).toBe(true);
});

check("a session that the agent has lost goes on in a new one, which is told what happened", async () => {
  const session = await stage.session();
  await stage.run(session, script(model.say("the answer is 42")));
  await rm(join(bed.root, "home", ".codex", "sessions"), { recursive: true, force: true });
  const from = bed.model.requests.length;
  // Its refusal does not prove that nothing was done, so the prompt is not sent again.
  const refused = await stage.run(session, script(model.say("unheard")));
  expect((await stage.host.inspect(session, refused)).error?.message).toContain("has lost its session");
  expect(bed.model.requests.length).toBe(from);
  const run = await stage.run(session, script(model.say("as I was told")));
  const { answer, error } = await stage.host.inspect(session, run);
  expect([answer, error]).toEqual([{ text: "as I was told" }, null]);
  const asked = bed.model.requests.slice(from).map(({ request }) => request.lastUserText);
  expect(asked.join("\n")).toContain("the answer is 42");
  const [told] = (await stage.messages(session)).find(({ id }) => id === run)?.parts ?? [];
  expect(told).toMatchObject({ type: "text", hidden: true });
  expect(told?.type === "text" && told.text).toContain("could not be continued");
});

check("replayed history is not part of a run", async () => {
  const session = await stage.session();
  await stage.run(session, script(shell("echo once"), model.say("first")));
  const run = await stage.run(session, script(model.say("second")));
  const evidence = await stage.host.inspect(session, run);
  expect([evidence.answer, evidence.progress.toolCalls]).toEqual([{ text: "second" }, 0]);
  expect(await stage.roles(session)).toBe("user assistant assistant user assistant");
});

test("twenty agents at once all answer, and none is left", async () => {
  const sessions = await Promise.all(Array.from({ length: 20 }, () => stage.session()));
  const runs = await Promise.all(
    sessions.map((session, index) => stage.prompt(session, script(model.gate("twenty"), model.say(`done ${index}`)))),
  );
  await bed.model.gate("twenty").reachedBy(20, 250_000);
  const pids = processesOf(bed.root);
  const memory = Math.round(memoryOf(pids) / 1024 / 1024);
  console.log(`20 Codex agents at work: ${pids.length} processes, ${memory} MB (${Math.round(memory / 20)} MB each)`);
  bed.model.gate("twenty").open();
  for (const [index, session] of sessions.entries()) {
    const isIdle = (event: { sessionId: string }) => event.sessionId === session;
    await stage.event("session.idle", isIdle);
    const evidence = await stage.host.inspect(session, runs[index] ?? "");
    expect(evidence.answer).toEqual({ text: `done ${index}` });
  }
  expect(await leftProcesses(bed.root)).toEqual([]);
}, 300_000);
