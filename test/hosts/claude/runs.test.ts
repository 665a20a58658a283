/**
 * What only the Claude CLI does, and the host suite therefore does not test: background work, forks, dying processes.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import type { ClaudeHost } from "../../../src/hosts/claude/claude-host.ts";
import { claudeHost } from "../../../src/hosts/claude/claude-host.ts";
import { isInterruption } from "../../../src/model/evidence.ts";
import { Stage } from "../../../src/testing/conformance/host/stage.ts";
import * as model from "../../../src/testing/models/script.ts";
import { AGENT, type ClaudeBed, claudeBed } from "./claude-bed.ts";

const PATIENCE = 60_000;
const stage = new Stage();
let bed: ClaudeBed;
beforeAll(async () => {
  bed = await claudeBed();
  stage.open(bed);
});
afterAll(() => stage.close());

const check = (title: string, work: () => Promise<void>) => test(title, work, PATIENCE);

/** Registers a script in the model's own form; returns the prompt. */
let scripts = 0;
function script(...steps: model.Script): string {
  const name = `own-${++scripts}`;
  bed.model.script(name, steps);
  return model.scriptMarker(name);
}

function agent(prompt: string): model.Answer {
  return model.call("Agent", { description: "Below", prompt, subagent_type: AGENT, run_in_background: true });
}

const bash = (command: string, fields: object = {}) => model.call("Bash", { command, description: "Runs", ...fields });

/** The processes that run in this bed's home. */
function processes(): number[] {
  const mark = `CLAUDE_CONFIG_DIR=${bed.home.environment.CLAUDE_CONFIG_DIR}\0`;
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((name) => {
      try {
        return readFileSync(`/proc/${name}/environ`, "utf8").includes(mark);
      } catch {
        return false;
      }
    })
    .map(Number);
}

async function gone(): Promise<number[]> {
  for (let round = 0; round < 50 && processes().length > 0; round++) await Bun.sleep(100);
  return processes();
}

describe("background work inside a session", () => {
  check("a run continues while its agents work, and its answer is the last one", async () => {
    const session = await stage.session();
    const below = script(model.gate("background"), model.say("looked"));
    const run = await stage.prompt(session, script(agent(below), model.say("launched"), model.say("all done")));
    await bed.gate("background").reachedBy(1);
    const opened = await stage.event("session.opened", (event) => event.parentSessionId === session);
    await bed.model.waitForRequest(({ request }) => request.sessionId === session && request.toolResults().length > 0);
    await Bun.sleep(300);
    const during = await stage.host.statuses();
    expect([during.has(session), during.has(opened.sessionId)]).toEqual([true, true]);
    expect((await stage.host.inspect(session, run)).answer).toBeNull();
    bed.gate("background").open();
    await stage.idle(session, run);
    await stage.event("session.idle", (event) => event.sessionId === opened.sessionId);
    const evidence = await stage.host.inspect(session, run);
    expect(evidence.answer).toEqual({ text: "all done" });
    expect(evidence.progress.cost).toBeGreaterThan(0);
    const said = (await stage.messages(opened.sessionId)).map((message) => message.parts);
    expect(said.at(-1)).toEqual([{ type: "text", text: "looked", hidden: false }]);
  });

  check("the run waits for a background shell, and leaves nothing behind", async () => {
    const session = await stage.session();
    const run = await stage.run(
      session,
      script(bash("sleep 1", { run_in_background: true }), model.say("started"), model.say("heard")),
    );
    const evidence = await stage.host.inspect(session, run);
    expect(evidence.answer).toEqual({ text: "heard" });
    expect(await gone()).toEqual([]);
  });
});

describe("forks", () => {
  check("have the history before the calling message; the parent is unchanged", async () => {
    const parent = await bed.openSession();
    await stage.run(parent, script(bash("cat notes.txt"), model.say("first")));
    await stage.run(parent, script(model.say("calling")));
    const before = await stage.messages(parent);
    const untilMessageId = before.at(-1)?.id ?? "";
    const forked = await bed.host.fork({ ...stage.startInput(parent), untilMessageId });
    const shown = await stage.shown(forked);
    expect(shown).toEqual((await stage.shown(parent)).slice(0, -1));
    const run = await stage.run(forked, script(model.say("on my own")));
    expect((await stage.host.inspect(forked, run)).answer).toEqual({ text: "on my own" });
    const [request] = bed.model.requestsOf(forked);
    expect(request?.request.assistantTexts).toContain("first");
    expect(request?.request.assistantTexts).not.toContain("calling");
    expect(await stage.messages(parent)).toEqual(before);
  });

  check("from the middle of a turn include the results of the calls before it", async () => {
    const parent = await bed.openSession();
    await stage.run(parent, script(bash("cat notes.txt"), bash("cat README.md"), model.say("done")));
    const [, , calling] = await stage.messages(parent);
    const forked = await bed.host.fork({ ...stage.startInput(parent), untilMessageId: calling?.id ?? "" });
    const run = await stage.run(forked, script(model.say((request) => request.toolResults("Bash").join("|"))));
    expect((await stage.host.inspect(forked, run)).answer).toEqual({ text: "alpha\nbeta\ngamma" });
  });
});

check("several sessions work concurrently and independently, and none leaves a process behind", async () => {
  const sessions = await Promise.all([1, 2, 3, 4].map(() => stage.session()));
  const prompts = sessions.map((_, index) => script(model.gate("together"), model.say(`number ${index}`)));
  const runs = await Promise.all(sessions.map((session, index) => stage.prompt(session, prompts[index] ?? "")));
  await bed.gate("together").reachedBy(4);
  expect([...(await stage.host.statuses()).keys()].toSorted()).toEqual(sessions.toSorted());
  bed.gate("together").open();
  await Promise.all(sessions.map((session, index) => stage.idle(session, runs[index] ?? "")));
  for (const [index, session] of sessions.entries()) {
    expect((await stage.host.inspect(session, runs[index] ?? "")).answer).toEqual({ text: `number ${index}` });
  }
  expect(await gone()).toEqual([]);
});

describe("rights", () => {
  check("a denied tool is not offered", async () => {
    const input = stage.startInput("", { denyTools: ["Agent"] });
    const session = await stage.host.start(input);
    await stage.run(session, script(model.say("alone")));
    const offered = bed.model.requestsOf(session)[0]?.request.toolNames ?? [];
    expect([offered.includes("Bash"), offered.includes("Agent")]).toEqual([true, false]);
  });
});

describe("an abort", () => {
  check("drops the prompts queued behind the run, and the session accepts new prompts", async () => {
    const session = await stage.session();
    const first = await stage.prompt(session, script(model.gate("abort with a queue"), model.say("unheard")));
    await bed.gate("abort with a queue").reachedBy(1);
    const second = await stage.prompt(session, script(model.say("never begun")));
    await stage.host.abort(session);
    const evidence = [await stage.host.inspect(session, first), await stage.host.inspect(session, second)];
    expect(evidence.map(({ error }) => error?.aborted)).toEqual([true, true]);
    const third = await stage.run(session, script(model.say("still here")));
    expect((await stage.host.inspect(session, third)).answer).toEqual({ text: "still here" });
  });
});

describe("an abort while only background agents work", () => {
  check("ends them, and the run is aborted", async () => {
    const session = await stage.session();
    const below = script(model.gate("left alone"), model.say("unheard"));
    const run = await stage.prompt(session, script(agent(below), model.say("launched"), model.say("noted")));
    await bed.gate("left alone").reachedBy(1);
    await bed.model.waitForRequests(({ request }) => request.speaker === session, 2);
    await Bun.sleep(500);
    await stage.host.abort(session);
    await stage.idle(session, run);
    expect((await stage.host.inspect(session, run)).error?.aborted).toBe(true);
    expect([(await stage.host.statuses()).size, await gone()]).toEqual([0, []]);
  });
});

describe("a process that dies", () => {
  check("ends its run with an error, and the session accepts new prompts", async () => {
    const session = await stage.session();
    const run = await stage.prompt(session, script(bash("cat notes.txt"), model.gate("killed"), model.say("unheard")));
    await bed.gate("killed").reachedBy(1);
    const [cli = 0] = processes().filter((pid) => readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("stream-json"));
    process.kill(cli, "SIGKILL");
    await stage.idle(session, run);
    const evidence = await stage.host.inspect(session, run);
    expect(evidence).toMatchObject({ answer: null, begun: true, error: { aborted: false } });
    // The work itself was fine, so its queue is not held.
    expect(evidence.error?.message).toContain("was killed (SIGKILL)");
    expect(isInterruption(evidence.error?.message ?? null)).toBe(true);
    const next = await stage.run(session, script(model.say("still here")));
    expect((await stage.host.inspect(session, next)).answer).toEqual({ text: "still here" });
    expect((await stage.host.inspect(session, run)).error).toEqual(evidence.error);
  });

  check("together with its host leaves the run begun and unanswered for the next host", async () => {
    const dying = bed.another();
    const session = await dying.start(stage.startInput(""));
    const run = dying.newMessageId();
    const prompt = script(bash("cat notes.txt"), model.gate("died"), model.say("unheard"));
    await dying.prompt(session, { messageId: run, text: prompt, agent: AGENT, model: null });
    await bed.gate("died").reachedBy(1);
    await dying.close();
    expect(await gone()).toEqual([]);
    const interrupted = { prompted: true, begun: true, answer: null, error: null };
    expect(await stage.host.inspect(session, run)).toMatchObject(interrupted);
    const next = await stage.run(session, script(model.say("to the person")));
    expect((await stage.host.inspect(session, next)).answer).toEqual({ text: "to the person" });
    expect(await stage.host.inspect(session, run)).toMatchObject(interrupted);
  });

  check("because this program was killed leaves no process behind", async () => {
    const program = Bun.spawn([process.execPath, `${import.meta.dir}/claude-child.ts`], {
      env: { ...process.env, ...bed.home.environment },
      stdio: ["pipe", "ignore", "ignore"],
    });
    const held = script(bash("tail -f notes.txt"), model.say("unheard"));
    program.stdin.write(
      JSON.stringify({ directory: bed.home.directory, folder: `${bed.home.root}/ledger`, text: held }),
    );
    await program.stdin.end();
    await bed.model.waitForRequest(({ request }) => request.lastUserText.includes(held));
    await Bun.sleep(1000);
    expect(processes().length).toBeGreaterThan(1);
    program.kill("SIGKILL");
    await program.exited;
    expect(await gone()).toEqual([]);
  });
});

check("a frozen process does not respond to an abort, but every abort resolves", async () => {
  const session = await stage.session();
  const below = script(model.gate("frozen below"), model.say("unheard"));
  const run = await stage.prompt(session, script(agent(below), model.gate("frozen"), model.say("unheard")));
  await Promise.all([bed.gate("frozen below").reachedBy(1), bed.gate("frozen").reachedBy(1)]);
  const opened = await stage.event("session.opened", (event) => event.parentSessionId === session);
  const [cli = 0] = processes().filter((pid) => readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("stream-json"));
  process.kill(cli, "SIGSTOP");
  await Promise.all([stage.host.abort(opened.sessionId), stage.host.abort(session)]);
  expect((await stage.host.inspect(session, run)).error?.aborted).toBe(true);
  expect([(await stage.host.statuses()).size, await gone()]).toEqual([0, []]);
});

describe("a ledger that cannot be written", () => {
  const ledger = () => `${bed.home.root}/ledger/sessions`;

  /** The ledger can be neither read nor written until the returned function is called. */
  function broken(): () => void {
    renameSync(ledger(), `${ledger()}-away`);
    writeFileSync(ledger(), "not a folder");
    return () => {
      rmSync(ledger());
      renameSync(`${ledger()}-away`, ledger());
    };
  }

  check(
    "does not block a session: its run ends, is known here, and is known to others once it can be written",
    async () => {
      const session = await stage.session();
      const run = await stage.prompt(session, script(model.gate("broken ledger"), model.say("unrecorded")));
      await bed.gate("broken ledger").reachedBy(1);
      const mend = broken();
      bed.gate("broken ledger").open();
      await stage.event("session.idle", (event) => event.sessionId === session);
      expect((await stage.host.statuses()).has(session)).toBe(false);
      await stage.host.abort(session);
      const refused = await stage.prompt(session, script(model.say("unsent"))).catch((thrown) => thrown);
      expect(refused).toBeInstanceOf(Error);
      mend();
      expect((await stage.host.inspect(session, run)).answer).toEqual({ text: "unrecorded" });
      const next = await stage.run(session, script(model.say("still here")));
      const another = bed.another();
      expect((await another.inspect(session, run)).answer).toEqual({ text: "unrecorded" });
      expect((await another.inspect(session, next)).answer).toEqual({ text: "still here" });
      await another.close();
    },
  );

  check("does not block an abort", async () => {
    const session = await stage.session();
    const run = await stage.prompt(session, script(model.gate("broken abort"), model.say("unheard")));
    await bed.gate("broken abort").reachedBy(1);
    const waiting = await stage.prompt(session, script(model.say("never begun")));
    const mend = broken();
    await stage.host.abort(session);
    mend();
    const evidence = [await stage.host.inspect(session, run), await stage.host.inspect(session, waiting)];
    expect(evidence.map(({ error }) => error?.aborted)).toEqual([true, true]);
  });

  check("does not block an abort if the host is closed meanwhile", async () => {
    const closing = bed.another();
    const session = await closing.start(stage.startInput(""));
    const text = script(model.gate("closed"), model.say("unheard"));
    await closing.prompt(session, { messageId: closing.newMessageId(), text, agent: AGENT, model: null });
    await bed.gate("closed").reachedBy(1);
    await Promise.all([closing.abort(session), closing.close()]);
    expect(await gone()).toEqual([]);
  });
});

test("a configuration folder whose transcripts could not be read is rejected", () => {
  const open = (): ClaudeHost =>
    claudeHost({ directory: "x", folder: "x", environment: { CLAUDE_CONFIG_DIR: "elsewhere" } });
  expect(open).toThrow("elsewhere");
});
