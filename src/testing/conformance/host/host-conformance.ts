/**
 * The requirements for every host, run on each of them: `hostConformance("scripted", open)`. Covers only the Host seam.
 * A host that omits an optional member gives a reason; the suite then checks that it is absent. Agents follow scripts
 * in the scripted host's step language; the bed of a real host translates them. Waits for events, not for time.
 */
import { afterAll, beforeAll, describe, expect } from "bun:test";
import { call, gate, say } from "../../../hosts/scripted/script.ts";
import { condenseSuite, forkLaunchSuite, forkSuite, hostNoticeSuite, launchSuite } from "./parents.ts";
import { abortSuite, evidenceSuite, requestSuite, runSuite } from "./runs.ts";
import { check, HOST_TEST_TIMEOUT_MS, type HostBed, type Lacks, rejectionCode, Stage } from "./stage.ts";
import { steeringSuite } from "./steering.ts";

/** The members that a host may omit. */
export type OptionalHostMember =
  | "findLaunched"
  | "requests"
  | "answer"
  | "fork"
  | "condense"
  | "notify"
  | "hasMessage"
  | "steer";
/** The members that the host omits, each with its reason. */
export type Absent = Partial<Record<OptionalHostMember, string>>;

/**
 * `open` is called once; all cases share the host, each with its own sessions. `lacks`: what the program behind the
 * host cannot do, each with its reason; cases about it are left out, or check what holds instead.
 */
export function hostConformance(
  name: string,
  open: () => Promise<HostBed>,
  absent: Absent = {},
  lacks: Lacks = {},
): void {
  describe(`host ${name}`, () => {
    const stage = new Stage(lacks);
    beforeAll(async () => stage.open(await open()), HOST_TEST_TIMEOUT_MS);
    afterAll(() => stage.close());
    const has = (...members: OptionalHostMember[]) => members.every((member) => absent[member] === undefined);
    describe("sessions", () => sessionSuite(stage));
    describe("runs", () => runSuite(stage));
    describe("evidence", () => evidenceSuite(stage));
    if (has("requests", "answer")) describe("requests", () => requestSuite(stage));
    describe("abort", () => abortSuite(stage));
    if (has("steer")) describe("steering", () => steeringSuite(stage));
    if (has("notify", "hasMessage")) describe("notices", () => hostNoticeSuite(stage));
    if (has("fork")) describe("forks", () => forkSuite(stage));
    if (has("fork", "condense")) describe("condensed forks", () => condenseSuite(stage));
    if (has("findLaunched")) describe("launches", () => launchSuite(stage));
    if (has("findLaunched", "fork")) describe("launches of forks", () => forkLaunchSuite(stage));
    for (const [member, reason] of Object.entries(absent)) {
      check(`has no ${member}: ${reason}`, async () => {
        expect(reason).not.toBe("");
        expect(stage.host[member as OptionalHostMember]).toBeUndefined();
      });
    }
    for (const [ability, reason] of Object.entries(lacks)) {
      check(`lacks ${ability}: ${reason}`, async () => expect(reason).not.toBe(""));
    }
  });
}

function sessionSuite(stage: Stage): void {
  check("start opens a child session of its parent", async () => {
    const parent = await stage.bed.openSession();
    const session = await stage.host.start(stage.startInput(parent));
    const opened = await stage.event("session.opened", (event) => event.sessionId === session);
    expect(opened.parentSessionId).toBe(parent);
    expect(await stage.host.exists(session)).toBe(true);
    expect(await stage.messages(session)).toEqual([]);
  });

  check("a session for a person has no parent, and works like any other", async () => {
    const session = await stage.host.start(stage.startInput("", { parentAgent: "" }));
    await stage.run(session, stage.script(say("alone")));
    expect((await stage.shown(session)).at(-1)).toBe("alone");
    expect(stage.events.some((event) => event.type === "session.opened" && event.sessionId === session)).toBe(false);
  });

  check("a parent that does not exist is rejected", async () => {
    expect(await rejectionCode(stage.host.start(stage.startInput("ses_unknown")))).toBe("session_gone");
  });

  check("a deleted session is announced, and every call reports that it is gone", async () => {
    const { host } = stage;
    const session = await stage.session();
    await stage.bed.deleteSession(session);
    await stage.event("session.deleted", (event) => event.sessionId === session);
    expect(await host.exists(session)).toBe(false);
    expect(await rejectionCode(stage.prompt(session, "hello"))).toBe("session_gone");
    expect(await rejectionCode(host.inspect(session, host.newMessageId()))).toBe("session_gone");
    expect(await rejectionCode(host.messages(session, { limit: 1, before: null }))).toBe("session_gone");
  });

  check("the statuses list exactly the working sessions", async () => {
    const [busy, idle] = [await stage.session(), await stage.session()];
    const messageId = await stage.prompt(busy, stage.script(gate("statuses"), say("done")));
    await stage.bed.gate("statuses").reachedBy(1);
    const during = await stage.host.statuses();
    expect([during.get(busy), during.has(idle)]).toEqual([{ state: "busy" }, false]);
    stage.bed.gate("statuses").open();
    await stage.idle(busy, messageId);
    expect((await stage.host.statuses()).has(busy)).toBe(false);
  });

  check("messages are read in pages, oldest first, from the newest page back", async () => {
    const session = await stage.session();
    for (const text of ["one", "two", "three"]) await stage.run(session, stage.script(say(text)));
    const all = (await stage.messages(session)).map((message) => message.id);
    expect(await stage.roles(session)).toBe("user assistant user assistant user assistant");
    const pages: string[][] = [];
    let before: string | null = null;
    do {
      const page = await stage.host.messages(session, { limit: 4, before });
      pages.unshift(page.messages.map((message) => message.id));
      before = page.before;
    } while (before !== null);
    expect(pages).toEqual([all.slice(0, 2), all.slice(2)]);
  });

  check("a message shows texts and tool results in full", async () => {
    const session = await stage.session();
    const output = `sk-secret ${"A".repeat(5000)} end`;
    const prompt = stage.script(
      call("read", { output }),
      call("read", { fails: "there is no such file" }),
      say("said"),
    );
    await stage.run(session, prompt);
    const messages = await stage.messages(session);
    const parts = messages.flatMap((message) => message.parts);
    const tools = parts.flatMap((part) => (part.type === "tool" ? [part] : []));
    expect(messages[0]?.parts).toEqual([{ type: "text", text: prompt, hidden: false }]);
    expect(tools.map(({ state }) => state)).toEqual(["completed", "error"]);
    const shown = stage.can("toolOutputs") ? expect.stringContaining(output) : tools[0]?.output;
    expect([tools[0]?.output, tools[0]?.error]).toEqual([shown, null]);
    expect([tools[1]?.output, tools[1]?.error]).toEqual([null, expect.stringMatching(/\S/)]);
    expect(parts).toContainEqual({ type: "text", text: "said", hidden: false });
    expect(messages.map(({ endedAt }) => endedAt !== null)).toEqual(messages.map(({ role }) => role === "assistant"));
  });

  check("agents are listed by name", async () => {
    const agents = await stage.host.agents();
    expect(agents.map((agent) => agent.name)).toContain(stage.bed.agent);
    expect(agents.map((agent) => agent.name)).toContain(stage.host.defaultAgent);
    expect(await stage.host.agent(stage.host.defaultAgent)).toMatchObject({ name: stage.host.defaultAgent });
  });

  check("message ids sort in order of creation, after the existing messages", async () => {
    const session = await stage.session();
    await stage.run(session, stage.script(say("first")));
    const existing = (await stage.messages(session)).map((message) => message.id);
    const ids = [...existing, ...Array.from({ length: 100 }, () => stage.host.newMessageId())];
    expect(ids.toSorted()).toEqual(ids);
    expect(new Set(ids).size).toBe(ids.length);
  });

  check("an unsubscribed listener gets no more events", async () => {
    const heard: string[] = [];
    const stop = stage.host.onEvent((event) => heard.push(event.type));
    const session = await stage.session();
    await stage.event("session.opened", (event) => event.sessionId === session);
    expect(heard).toContain("session.opened");
    stop();
    heard.length = 0;
    const other = await stage.session();
    await stage.event("session.opened", (event) => event.sessionId === other);
    expect(heard).toEqual([]);
  });
}
