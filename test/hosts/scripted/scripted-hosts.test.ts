import { afterEach, describe, expect, test } from "bun:test";
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Host, HostEvent } from "../../../src/hosts/host.ts";
import type { scriptedHost } from "../../../src/hosts/scripted/scripted-host.ts";
import { type ScriptedHosts, scriptedHosts } from "../../../src/hosts/scripted/scripted-hosts.ts";
import { hostConformance } from "../../../src/testing/conformance/host/host-conformance.ts";

const folders: string[] = [];
function newFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "asyncagents-scripted-")));
  folders.push(folder);
  return folder;
}
const clean = () => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
};
afterEach(clean);

hostConformance("scripted with stored sessions", async () => {
  const sessions = mkdtempSync(join(tmpdir(), "asyncagents-scripted-"));
  const maker = scriptedHosts({ folder: sessions });
  const { host, close } = await maker.open(sessions);
  const scripted = host as ReturnType<typeof scriptedHost>;
  return {
    host,
    agent: "general",
    script: scripted.script,
    gate: scripted.gate,
    openSession: async () => scripted.openSession(),
    deleteSession: scripted.deleteSession,
    async close() {
      await close();
      rmSync(sessions, { recursive: true, force: true });
    },
  };
});

/** Runs one prompt to its end; returns what the session shows about it. */
async function run(host: Host, prompt: string, sessionId?: string) {
  const input = { parentSessionId: "", parentAgent: "", title: "x", agent: "general", model: null, denyTools: [] };
  const session = sessionId ?? (await host.start({ ...input, launchId: "lau_1" }));
  const events: HostEvent[] = [];
  const idle = new Promise<void>((resolve) => {
    const stop = host.onEvent((event) => {
      events.push(event);
      if (event.type !== "session.idle") return;
      stop();
      resolve();
    });
  });
  const messageId = host.newMessageId();
  await host.prompt(session, { messageId, text: prompt, agent: "general", model: null });
  return { session, messageId, idle, events, shown: () => idle.then(() => host.inspect(session, messageId)) };
}

async function opened(options: Parameters<typeof scriptedHosts>[0] = {}) {
  const directory = newFolder();
  const maker: ScriptedHosts = scriptedHosts(options);
  return { maker, directory, host: (await maker.open(directory)).host };
}

/** Resolves at the next tool call. */
function calling(host: Host): Promise<void> {
  return new Promise((resolve) => host.onEvent((event) => event.type === "tool.called" && resolve()));
}

describe("instructions in a prompt", () => {
  test("files are written, and the text is the answer", async () => {
    const { directory, host } = await opened();
    const prompt = "Please:\n!write src/a.txt hello there\n  !say first\n!say second";
    const evidence = await (await run(host, prompt)).shown();
    expect(evidence.answer).toEqual({ text: "first\nsecond" });
    expect(readFileSync(join(directory, "src", "a.txt"), "utf8")).toBe("hello there\n");
  });

  test("a prompt without instructions is answered, even if it contains an exclamation mark", async () => {
    const { host } = await opened();
    expect((await (await run(host, "Fix it! Now")).shown()).answer).toEqual({
      text: "A scripted agent read: Fix it! Now",
    });
  });

  test("nothing outside the directory is written, however it is named", async () => {
    const { directory, host } = await opened();
    const outside = newFolder();
    symlinkSync(outside, join(directory, "link"));
    symlinkSync(join(outside, "file"), join(directory, "file-link"));
    symlinkSync(join(outside, "not", "there"), join(directory, "dangling"));
    for (const path of ["../x", "/tmp/x", "a/../../x", "link/x", "link/deep/x", "file-link", ".", "dangling"]) {
      const evidence = await (await run(host, `!write ${path} text`)).shown();
      expect([path, evidence.answer, evidence.error?.message]).toEqual([path, null, expect.stringContaining("inside")]);
    }
    expect((await (await run(host, "!write")).shown()).error?.message).toContain("inside");
    expect(readdirSync(outside)).toEqual([]);
  });

  test("a wait ends when the file exists, or when the turn is aborted", async () => {
    const { directory, host } = await opened();
    const waiting = await run(host, "!wait go\n!say gone");
    expect((await host.statuses()).has(waiting.session)).toBe(true);
    writeFileSync(join(directory, "go"), "");
    expect((await waiting.shown()).answer).toEqual({ text: "gone" });
    const stopped = await run(host, "!wait never\n!say unheard");
    await calling(host);
    await host.abort(stopped.session);
    expect((await stopped.shown()).error).toMatchObject({ aborted: true });
    const { messages } = await host.messages(stopped.session, { limit: 10, before: null });
    const outputs = messages.flatMap(({ parts }) => parts.flatMap((part) => (part.type === "tool" ? part.output : [])));
    expect(outputs).toEqual(["stopped waiting for never"]);
    expect(existsSync(join(directory, "never"))).toBe(false);
  });

  test("a failure fails the run, and so does an unknown instruction", async () => {
    const { host } = await opened();
    expect((await (await run(host, "!fail no credit")).shown()).error?.message).toBe("no credit");
    const unknown = await (await run(host, "!wrte a b")).shown();
    expect(unknown.error?.message).toContain("There is no instruction !wrte");
    expect(unknown.error?.message).toContain("!write");
  });
});

describe("kept sessions", () => {
  test("outlive the process, with unfinished messages unchanged", async () => {
    const folder = newFolder();
    const { maker, directory, host } = await opened({ folder });
    const done = await run(host, "!say heard");
    await done.idle;
    const held = await run(host, "!wait never");
    await calling(host);
    await maker.stop();
    const later = scriptedHosts({ folder });
    const { host: again } = await later.open(directory);
    expect((await again.inspect(done.session, done.messageId)).answer).toEqual({ text: "heard" });
    expect(await again.inspect(held.session, held.messageId)).toMatchObject({ begun: true, answer: null, error: null });
    const resumed = await run(again, "!say once more", held.session);
    expect((await resumed.shown()).answer).toEqual({ text: "once more" });
    expect(resumed.messageId > held.messageId).toBe(true);
  });

  test("are shared by processes: each adds to what the others wrote, and reads it", async () => {
    const folder = newFolder();
    const { directory, host } = await opened({ folder });
    const { session, idle } = await run(host, "!say one");
    await idle;
    // This one reads the session when it starts, and the first one goes on with it.
    const { host: other } = await scriptedHosts({ folder }).open(directory);
    await (await run(host, "!say two", session)).idle;
    const notice = { visible: "told", hidden: "", wake: false, agent: null, model: null, variant: null };
    const messageId = other.newMessageId();
    await other.notify?.(session, { ...notice, messageId });
    expect(await host.hasMessage?.(session, messageId)).toBe(true);
    const third = await run(host, "!say three", session);
    await third.idle;
    expect((await other.inspect(session, third.messageId)).answer).toEqual({ text: "three" });
    const { host: later } = await scriptedHosts({ folder }).open(directory);
    for (const each of [host, other, later]) {
      const { messages } = await each.messages(session, { limit: 20, before: null });
      const texts = messages.flatMap(({ parts }) => parts.flatMap((part) => (part.type === "text" ? part.text : [])));
      // The hidden part of the notice is empty.
      expect(texts.filter((text) => text !== "")).toEqual([
        "!say one",
        "one",
        "!say two",
        "two",
        "told",
        "!say three",
        "three",
      ]);
    }
  });

  test("have ids of their own, also on machines that start at the same time", async () => {
    const input = { parentSessionId: "", parentAgent: "", title: "x", agent: "general", model: null, denyTools: [] };
    const start = async () => (await opened({ now: () => 1_000 })).host.start({ ...input, launchId: "lau_1" });
    expect(await start()).not.toBe(await start());
  });

  test("are lost without a folder, and that is reported", async () => {
    const { directory, host } = await opened();
    const done = await run(host, "!say heard");
    await done.idle;
    const { host: later } = await scriptedHosts().open(directory);
    expect(await later.exists(done.session)).toBe(false);
    expect(later.inspect(done.session, done.messageId)).rejects.toMatchObject({ code: "session_gone" });
  });
});
