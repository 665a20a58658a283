/**
 * The part of the host suite about runs: how a prompt is run, what it shows afterwards, what it asks for, and how it is
 * ended from outside.
 */
import { expect } from "bun:test";
import { ask, call, delegate, empty, fail, gate, retry, say } from "../../../hosts/scripted/script.ts";
import { check, type Stage } from "./stage.ts";

export function runSuite(stage: Stage): void {
  check("a prompt is accepted, run and ended, in this order", async () => {
    const session = await stage.session();
    const script = stage.script(call("bash", { output: "listing" }), say("done"));
    const messageId = await stage.run(session, script);
    const own = stage.events.filter((event) => "sessionId" in event && event.sessionId === session);
    const order = ["message.added", "message.taken", "tool.called", "usage.counted", "session.idle"] as const;
    const places = order.map((type) => own.findIndex((event) => event.type === type));
    expect(places).not.toContain(-1);
    expect(places.toSorted((a, b) => a - b)).toEqual(places);
    const written = own.findIndex((event) => event.type === "text.written");
    expect(written, "the prompt does not count as the agent's text").toBeGreaterThan(places[1] ?? 0);
    expect(own.find((event) => event.type === "message.added")).toMatchObject({ messageId });
    expect(own.find((event) => event.type === "message.taken")).toMatchObject({ messageId });
    const calls = own.flatMap((event) => (event.type === "tool.called" ? [event] : []));
    expect(new Set(calls.map((event) => event.name))).toEqual(new Set([stage.bashTool]));
    expect(new Set(calls.map((event) => event.callId)).size).toBe(1);
    const ended = own.findIndex((event) => event.type === "tool.ended");
    expect(own[ended]).toMatchObject({ callId: calls[0]?.callId, isFailed: false });
    expect(ended, "a call ends after it began, and before the run does").toBeGreaterThan(places[2] ?? 0);
    expect(ended).toBeLessThan(places[4] ?? 0);
  });

  check("usage is reported per message, and adds up to what the run shows", async () => {
    const session = await stage.session();
    const messageId = await stage.run(session, stage.script(call("bash"), say("done")));
    const usage = new Map<string, number>();
    for (const event of stage.events) {
      if (event.type === "usage.counted" && event.sessionId === session) usage.set(event.messageId, event.tokens.input);
    }
    const { progress } = await stage.host.inspect(session, messageId);
    expect([...usage.values()].reduce((sum, tokens) => sum + tokens, 0)).toBe(progress.tokens.input);
    expect(progress.tokens.input).toBeGreaterThan(0);
  });

  if (!stage.can("reportedRetries")) {
    check("a provider that fails for a moment does not end the run", async () => {
      const evidence = await stage.evidence(retry("overloaded", 1), say("recovered"));
      expect([evidence.answer, evidence.error]).toEqual([{ text: "recovered" }, null]);
    });
  } else
    check("a failing provider is reported with reason and count, and the run continues", async () => {
      const session = await stage.session();
      const messageId = await stage.run(session, stage.script(retry("overloaded", 2), say("recovered")));
      const retries = stage.events.flatMap((event) =>
        event.type === "session.retrying" && event.sessionId === session ? [[event.reason, event.count]] : [],
      );
      expect(retries).toEqual([
        ["overloaded", 1],
        ["overloaded", 2],
      ]);
      expect((await stage.host.inspect(session, messageId)).answer).toEqual({ text: "recovered" });
    });

  check("a prompt to a working session is run afterwards", async () => {
    const session = await stage.session();
    await stage.prompt(session, stage.script(gate("queue"), say("first")));
    await stage.bed.gate("queue").reachedBy(1);
    const second = await stage.prompt(session, stage.script(say("second")));
    stage.bed.gate("queue").open();
    await stage.idle(session, second);
    expect((await stage.host.inspect(session, second)).answer).toEqual({ text: "second" });
  });
}

export function evidenceSuite(stage: Stage): void {
  check("a run shows its answer and what it did", async () => {
    const evidence = await stage.evidence(call("bash", { output: "x" }), call("bash"), say("all good"));
    expect(evidence).toMatchObject({ prompted: true, begun: true, worked: true, error: null, stoppedAt: null });
    expect(evidence.answer).toEqual({ text: "all good" });
    expect(evidence.progress).toMatchObject({ toolCalls: 2, toolCallsByName: { [stage.bashTool]: 2 } });
  });

  check("each run shows its own answer, whatever a person typed in between", async () => {
    const session = await stage.session();
    const first = await stage.run(session, stage.script(call("bash"), say("one")));
    await stage.run(session, stage.script(say("an aside")));
    const second = await stage.run(session, stage.script(say("two")));
    await stage.run(session, stage.script(fail("an aside that failed")));
    const [one, two] = [await stage.host.inspect(session, first), await stage.host.inspect(session, second)];
    expect([one.answer, one.error, one.progress.toolCalls]).toEqual([{ text: "one" }, null, 1]);
    expect([two.answer, two.error, two.progress.toolCalls]).toEqual([{ text: "two" }, null, 0]);
    if (stage.can("runUsage")) expect(two.progress.tokens.input).toBeLessThan(one.progress.tokens.input);
  });

  check("an error is shown, and stays when a person continues afterwards", async () => {
    const session = await stage.session();
    const run = await stage.run(session, stage.script(fail("no such thing")));
    const failed = await stage.host.inspect(session, run);
    expect(failed).toMatchObject({ answer: null, begun: true, worked: false, error: { aborted: false } });
    expect(failed.error?.message).toContain("no such thing");
    const told = await stage.event("session.failed", (event) => event.sessionId === session);
    expect([told.error.includes("no such thing"), told.aborted]).toEqual([true, false]);
    await stage.run(session, stage.script(say("fine now")));
    expect(await stage.host.inspect(session, run)).toEqual(failed);
  });

  check("an empty answer is an answer without work", async () => {
    const evidence = await stage.evidence(empty());
    if (stage.can("emptyAnswers")) expect(evidence).toMatchObject({ answer: { text: "" }, error: null });
    else expect(evidence.error?.message).toMatch(/./);
    expect(evidence).toMatchObject({ begun: true, worked: false });
  });

  check("tool calls alone are work", async () => {
    const evidence = await stage.evidence(call("bash", { output: "x" }), empty());
    if (stage.can("emptyAnswers")) expect(evidence).toMatchObject({ answer: { text: "" }, error: null });
    expect(evidence).toMatchObject({ worked: true, progress: { toolCalls: 1 } });
  });

  check("a run does not stop at a failed call if it continued after it", async () => {
    const session = await stage.session();
    const run = await stage.run(session, stage.script(call("read", { fails: "no such file" }), say("so be it")));
    const evidence = await stage.host.inspect(session, run);
    expect(evidence).toMatchObject({ answer: { text: "so be it" }, worked: true, stoppedAt: null });
    const parts = (await stage.messages(session)).flatMap((message) => message.parts);
    expect(parts.flatMap((part) => (part.type === "tool" ? [part.state] : []))).toEqual(["error"]);
  });

  check("a running run has begun, and shows no answer", async () => {
    const session = await stage.session();
    const run = await stage.prompt(session, stage.script(call("bash"), gate("unfinished"), say("done")));
    await stage.bed.gate("unfinished").reachedBy(1);
    // The model may be asked again before the program has told us about the call.
    await stage.event("tool.called", (event) => event.sessionId === session);
    expect(await stage.host.inspect(session, run)).toMatchObject({ begun: true, answer: null, error: null });
    stage.bed.gate("unfinished").open();
    await stage.idle(session, run);
  });

  check("an aborted run shows that it was aborted", async () => {
    const session = await stage.session();
    const run = await stage.prompt(session, stage.script(gate("aborted"), say("unheard")));
    await stage.bed.gate("aborted").reachedBy(1);
    await stage.host.abort(session);
    const failed = await stage.event("session.failed", (event) => event.sessionId === session);
    expect(failed.aborted).toBe(true);
    await stage.idle(session, run);
    expect(await stage.host.inspect(session, run)).toMatchObject({ answer: null, error: { aborted: true } });
  });

  check("a prompt that never arrived shows nothing, whatever else is there", async () => {
    const session = await stage.session();
    await stage.run(session, stage.script(say("somebody else's")));
    const evidence = await stage.host.inspect(session, stage.host.newMessageId());
    expect(evidence).toMatchObject({ prompted: false, begun: false, answer: null, error: null, worked: false });
  });
}

/** The replies of a person who agrees. */
const yes = {
  permission: { kind: "permission", decision: "once", message: null },
  question: { kind: "question", answers: ["yes"] },
} as const;

export function requestSuite(stage: Stage): void {
  for (const asks of stage.can("questions") ? (["permission", "question"] as const) : (["permission"] as const)) {
    check(`a ${asks} is asked, blocks the run, and is answered once`, async () => {
      const session = await stage.session();
      const run = await stage.prompt(session, stage.script(ask(asks, "May I?"), say("thanks")));
      const asked = await stage.event("session.asked", (event) => event.sessionId === session);
      expect(asked).toMatchObject({ asks, text: expect.stringMatching(/./) });
      expect((await stage.host.statuses()).get(session)).toEqual({ state: "busy" });
      const { type: _type, ...request } = asked;
      const open = await stage.host.requests?.();
      expect(open).toContainEqual({ ...request, above: expect.any(Array) });
      expect(await stage.host.answer?.(session, asked.requestId, yes[asks])).toBe(true);
      const answered = await stage.event("session.answered", (event) => event.sessionId === session);
      expect(answered.requestId).toBe(asked.requestId);
      await stage.idle(session, run);
      expect((await stage.host.inspect(session, run)).answer).toEqual({ text: "thanks" });
      expect(await stage.host.answer?.(session, asked.requestId, yes[asks])).toBe(false);
      const left = await stage.host.requests?.();
      expect(left?.map(({ requestId }) => requestId)).not.toContain(asked.requestId);
    });
  }

  check("a run whose permission is rejected shows where it stopped", async () => {
    const session = await stage.session();
    const run = await stage.prompt(session, stage.script(ask("permission", "May I?"), say("unheard")));
    const asked = await stage.event("session.asked", (event) => event.sessionId === session);
    await stage.host.answer?.(session, asked.requestId, { kind: "permission", decision: "reject", message: null });
    await stage.idle(session, run);
    const evidence = await stage.host.inspect(session, run);
    expect([evidence.answer, evidence.error]).toEqual([null, null]);
    expect(evidence.stoppedAt?.message).toMatch(/./);
  });

  check("a rejection with a message is passed to the agent, and the run continues", async () => {
    const session = await stage.session();
    // Twice: an agent may ask its model once more before it obeys, and never read that answer.
    const script = stage.script(ask("permission", "May I?"), say("then not"), say("then not"));
    const run = await stage.prompt(session, script);
    const asked = await stage.event("session.asked", (event) => event.sessionId === session);
    const refusal = { kind: "permission", decision: "reject", message: "not on a Sunday" } as const;
    await stage.host.answer?.(session, asked.requestId, refusal);
    await stage.idle(session, run);
    expect((await stage.host.inspect(session, run)).answer).toEqual({ text: "then not" });
    const parts = (await stage.messages(session)).flatMap((message) => message.parts);
    const told = parts.flatMap((part) => (part.type === "tool" ? [part.error] : []));
    expect(told).toEqual([expect.stringContaining("not on a Sunday")]);
  });

  if (stage.can("childSessions"))
    check("a request of a child session is answered through its parent", async () => {
      const session = await stage.session();
      stage.bed.script("conformance-asking", [ask("permission", "May I?"), say("below")]);
      const run = await stage.prompt(session, stage.script(delegate("conformance-asking"), say("thanks")));
      const below = await stage.event("session.opened", (event) => event.parentSessionId === session);
      const asked = await stage.event("session.asked", (event) => event.sessionId === below.sessionId);
      const open = (await stage.host.requests?.())?.find(({ requestId }) => requestId === asked.requestId);
      expect(open?.above[0]).toBe(session);
      expect(await stage.host.answer?.(session, asked.requestId, yes.permission)).toBe(true);
      await stage.idle(session, run);
      expect((await stage.host.inspect(session, run)).answer).toEqual({ text: "thanks" });
    });

  if (stage.can("questions"))
    check("a run whose question is declined shows where it stopped", async () => {
      const session = await stage.session();
      const run = await stage.prompt(session, stage.script(ask("question", "Which?"), say("unheard")));
      const asked = await stage.event("session.asked", (event) => event.sessionId === session);
      await stage.host.answer?.(session, asked.requestId, { kind: "question", answers: null });
      await stage.idle(session, run);
      const evidence = await stage.host.inspect(session, run);
      expect([evidence.answer, evidence.stoppedAt?.message]).toEqual([null, expect.stringMatching(/./)]);
    });
}

export function abortSuite(stage: Stage): void {
  if (stage.can("childSessions"))
    check("abort ends the descendant sessions as well", async () => {
      const session = await stage.session();
      stage.bed.script("conformance-below", [gate("below"), say("unheard")]);
      const run = await stage.prompt(session, stage.script(delegate("conformance-below"), say("unheard")));
      const below = await stage.event("session.opened", (event) => event.parentSessionId === session);
      await stage.bed.gate("below").reachedBy(1);
      expect((await stage.host.statuses()).has(below.sessionId)).toBe(true);
      await stage.host.abort(session);
      await stage.idle(session, run);
      await stage.event("session.idle", (event) => event.sessionId === below.sessionId);
      const after = await stage.host.statuses();
      expect([after.has(session), after.has(below.sessionId)]).toEqual([false, false]);
    });

  check("abort of an idle session changes nothing", async () => {
    const session = await stage.session();
    const run = await stage.run(session, stage.script(say("kept")));
    await stage.host.abort(session);
    expect((await stage.host.inspect(session, run)).answer).toEqual({ text: "kept" });
  });
}
