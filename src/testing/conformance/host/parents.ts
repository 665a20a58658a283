/**
 * The part of the host suite about optional members: messages to a parent's session, forks of it, and finding a session
 * by the launch that created it.
 */
import { expect } from "bun:test";
import { call, gate, say } from "../../../hosts/scripted/script.ts";
import { type CondenseLimits, FORK_PREAMBLE } from "../../../model/condense.ts";
import { check, rejectionCode, type Stage } from "./stage.ts";

export function hostNoticeSuite(stage: Stage): void {
  const notify = (sessionId: string, messageId: string, visible: string, wake: boolean) =>
    stage.host.notify?.(sessionId, {
      messageId,
      visible,
      hidden: "for the agent",
      wake,
      agent: stage.bed.agent,
      model: null,
      variant: null,
    });

  check("without waking, one message is added and no turn starts", async () => {
    const session = await stage.bed.openSession();
    const messageId = stage.host.newMessageId();
    expect(await stage.host.hasMessage?.(session, messageId)).toBe(false);
    await notify(session, messageId, "for the person", false);
    expect(await stage.host.hasMessage?.(session, messageId)).toBe(true);
    await stage.event("message.added", (event) => event.messageId === messageId);
    expect((await stage.host.statuses()).has(session)).toBe(false);
    // The answer to a later prompt is the only one: the notice itself caused none.
    await stage.run(session, stage.script(say("hello")));
    expect(await stage.roles(session)).toBe("user user assistant");
    const [notice] = await stage.shown(session);
    expect([notice?.includes("for the person"), notice?.includes("for the agent")]).toEqual([true, true]);
  });

  check("with waking, one message causes one turn", async () => {
    const session = await stage.bed.openSession();
    const messageId = stage.host.newMessageId();
    await notify(session, messageId, `wake up ${stage.script(say("awake"))}`, true);
    expect(await stage.host.hasMessage?.(session, messageId)).toBe(true);
    await stage.idle(session, messageId);
    expect(await stage.roles(session)).toBe("user assistant");
    expect((await stage.shown(session))[1]).toBe("awake");
  });

  check("a notice that wakes its session resolves when it has arrived, not when its turn ends", async () => {
    const session = await stage.bed.openSession();
    const messageId = stage.host.newMessageId();
    await notify(session, messageId, `wake up ${stage.script(gate("its turn"), say("awake"))}`, true);
    expect(await stage.host.hasMessage?.(session, messageId)).toBe(true);
    await stage.bed.gate("its turn").reachedBy(1);
    expect((await stage.host.statuses()).has(session)).toBe(true);
    stage.bed.gate("its turn").open();
    await stage.idle(session, messageId);
  });

  for (const wake of [false, true]) {
    check(`sending the same id again replaces the message (wake: ${wake}), and starts no extra turn`, async () => {
      const session = await stage.bed.openSession();
      const messageId = stage.host.newMessageId();
      await notify(session, messageId, "first", wake);
      if (wake) await stage.idle(session, messageId);
      const from = stage.events.length;
      await notify(session, messageId, "second", wake);
      await stage.event("message.added", (event) => event.messageId === messageId, from);
      await stage.run(session, stage.script(say("hello")));
      expect(await stage.roles(session)).toBe(wake ? "user assistant user assistant" : "user user assistant");
      const [notice] = await stage.shown(session);
      expect([notice?.includes("second"), notice?.includes("first")]).toEqual([true, false]);
    });
  }

  check("a deleted session rejects notices", async () => {
    const session = await stage.bed.openSession();
    await stage.bed.deleteSession(session);
    for (const wake of [true, false]) {
      expect(await rejectionCode(notify(session, stage.host.newMessageId(), "x", wake) ?? Promise.resolve())).toBe(
        "session_gone",
      );
    }
    expect(await stage.host.hasMessage?.(session, stage.host.newMessageId())).toBe(false);
  });
}

/** Forks the session as a launch does. Rejects a host that makes none, so that no case can pass without a fork. */
async function forkOf(
  stage: Stage,
  parentSessionId: string,
  untilMessageId: string,
  launchId?: string,
): Promise<string> {
  const input = stage.startInput(parentSessionId, launchId === undefined ? {} : { launchId });
  const forked = await stage.host.fork?.({ ...input, untilMessageId });
  if (!forked) throw new Error("no fork was made");
  return forked;
}

async function lastId(stage: Stage, sessionId: string): Promise<string> {
  return (await stage.messages(sessionId)).at(-1)?.id ?? "";
}

export function forkSuite(stage: Stage): void {
  check("a fork has the history before the calling message, and leaves the parent unchanged", async () => {
    const parent = await stage.bed.openSession();
    await stage.run(parent, stage.script(say("first")));
    await stage.run(parent, stage.script(say("calling")));
    const before = await stage.shown(parent);
    const forked = await forkOf(stage, parent, await lastId(stage, parent));
    expect(await stage.shown(forked)).toEqual(before.slice(0, 3));
    // A person forks a session from outside: there is no calling message, and nothing is left out.
    expect(await stage.shown(await forkOf(stage, parent, ""))).toEqual(before);
    expect(await stage.shown(parent)).toEqual(before);
  });

  check("a fork accepts its prompt, and knows nothing of what happens to its parent later", async () => {
    const parent = await stage.bed.openSession();
    await stage.run(parent, stage.script(say("first")));
    const forked = await forkOf(stage, parent, "");
    await stage.run(parent, stage.script(say("later")));
    const run = await stage.run(forked, stage.script(say("on its own")));
    expect((await stage.host.inspect(forked, run)).answer).toEqual({ text: "on its own" });
    expect(await stage.roles(forked)).toBe("user assistant user assistant");
    expect((await stage.shown(forked)).join()).not.toContain("later");
    expect((await stage.shown(parent)).join()).not.toContain("on its own");
  });

  check("a deleted parent cannot be forked", async () => {
    expect(await rejectionCode(forkOf(stage, "ses_unknown", stage.host.newMessageId()))).toBe("session_gone");
  });
}

/** For hosts that can cut the history of a fork. */
export function condenseSuite(stage: Stage): void {
  const roomy: CondenseLimits = {
    tokens: 100_000,
    wholeOutputs: 1,
    recentOutputs: 1,
    recentChars: 200,
    olderChars: 50,
  };

  check("condense keeps the newest outputs in full, shortens older ones, and tells the agent", async () => {
    const parent = await stage.bed.openSession();
    const outputs = ["A", "B", "C"].map((letter) => call("bash", { output: letter.repeat(3000) }));
    await stage.run(parent, stage.script(...outputs, say("looked")));
    await stage.run(parent, stage.script(say("calling")));
    const forked = await forkOf(stage, parent, await lastId(stage, parent));
    await stage.host.condense?.(forked, roomy);
    const shown = await stage.shown(forked);
    const length = (letter: string) => shown.join("\n").split(letter).length - 1;
    expect(length("C")).toBeGreaterThanOrEqual(3000);
    expect(length("B")).toBeGreaterThanOrEqual(200);
    expect(length("B")).toBeLessThan(300);
    expect(length("A")).toBeGreaterThanOrEqual(50);
    expect(length("A")).toBeLessThan(150);
    expect(shown.join("\n")).toContain("characters cut");
    expect(shown.at(-1)).toContain(FORK_PREAMBLE);
    expect((await stage.shown(parent)).join("").split("A").length - 1).toBeGreaterThanOrEqual(3000);
  });

  check("condense drops the oldest turns; the fork then accepts its prompt", async () => {
    const parent = await stage.bed.openSession();
    await stage.run(parent, stage.script(say("Z".repeat(3000))));
    await stage.run(parent, stage.script(say("short")));
    await stage.run(parent, stage.script(say("calling")));
    const forked = await forkOf(stage, parent, await lastId(stage, parent));
    await stage.host.condense?.(forked, { ...roomy, tokens: 300 });
    expect(await stage.roles(forked)).toBe("user assistant user user");
    expect((await stage.shown(forked))[1]).toBe("short");
    const run = await stage.run(forked, stage.script(say("working on it")));
    const evidence = await stage.host.inspect(forked, run);
    expect(evidence.answer).toEqual({ text: "working on it" });
    expect(evidence.progress.toolCalls).toBe(0);
  });
}

export function launchSuite(stage: Stage): void {
  check("a session is found by the id of its launch", async () => {
    const at = Date.now();
    const parentSessionId = await stage.bed.openSession();
    const find = async (launchId: string) => stage.host.findLaunched?.({ launchId, parentSessionId, at });
    const input = stage.startInput(parentSessionId);
    expect(await find(input.launchId)).toBeNull();
    const session = await stage.host.start(input);
    await stage.host.start(stage.startInput(parentSessionId));
    expect(await find(input.launchId)).toBe(session);
  });
}

export function forkLaunchSuite(stage: Stage): void {
  check("a fork is found by the id of its launch", async () => {
    const at = Date.now();
    const parentSessionId = await stage.bed.openSession();
    const run = await stage.run(parentSessionId, stage.script(say("hello")));
    const { launchId } = stage.startInput(parentSessionId);
    const find = () => stage.host.findLaunched?.({ launchId, parentSessionId, at });
    expect(await find()).toBeNull();
    const forked = await forkOf(stage, parentSessionId, run, launchId);
    expect(await find()).toBe(forked);
  });
}
