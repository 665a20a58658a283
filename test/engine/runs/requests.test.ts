/** Agents' requests and their ends are noticed even if their events are lost. */
import { expect, test } from "bun:test";
import { ask, delegate, gate, say } from "../../../src/hosts/scripted/script.ts";
import { ended, heard, launch, newWorld, notices, polls, when, without } from "../engine-bed.ts";

const YES = { kind: "permission", decision: "once", message: null } as const;

test("a request whose event was lost is found by the poll, announced once, and can be answered", async () => {
  const world = newWorld();
  const side = await world.side({ host: without("session.asked"), settings: { pollMs: 5 } });
  const parent = world.parent();
  const task = await launch(side, parent, world.script(ask("permission", "May I?"), say("thanks")));
  const waiting = await when(side, task, ({ phase }) => phase === "waiting");
  expect(waiting.phaseDetail).toMatchObject({ asks: "permission", text: "May I?" });
  await notices(side, parent, "delivered", 1);
  await polls(side, 3);
  await side.engine.answerTask(waiting, YES);
  expect(await ended(side, task)).toMatchObject({ status: "completed", run: { result: "thanks" } });
  await notices(side, parent, "delivered", 2);
  expect(world.told(parent)).toEqual(["told task#0 waiting", "told task#0 ended"]);
});

test("one of a nested session is found too, although the event of its creation was lost", async () => {
  const world = newWorld();
  const side = await world.side({ host: without("session.asked", "session.opened"), settings: { pollMs: 5 } });
  side.host.script("below", [ask("permission", "May I?"), say("below")]);
  const task = await launch(side, world.parent(), world.script(delegate("below"), say("thanks")));
  await side.engine.answerTask(await when(side, task, ({ phase }) => phase === "waiting"), YES);
  expect(await ended(side, task)).toMatchObject({ status: "completed", run: { result: "thanks" } });
});

test("an answer whose event was lost ends the waiting", async () => {
  const world = newWorld();
  const side = await world.side({ host: without("session.answered"), settings: { pollMs: 5 } });
  const script = world.script(ask("permission", "May I?"), gate("after"), say("thanks"));
  const task = await launch(side, world.parent(), script);
  const waiting = await when(side, task, ({ phase }) => phase === "waiting");
  await side.engine.answerTask(waiting, YES);
  await side.host.gate("after").reachedBy(1);
  expect(await when(side, task, ({ phase }) => phase === "working")).toMatchObject({
    phaseDetail: { kind: "answered", reply: "allowed once", by: "api" },
  });
});

test("of many concurrent answers one counts; the others are told about it, while the run continues and when it is over", async () => {
  const world = newWorld();
  const side = await world.side();
  const task = await launch(side, world.parent(), world.script(ask("permission", "May I?"), gate("after"), say("x")));
  const waiting = await when(side, task, ({ phase }) => phase === "waiting");
  const NO = { kind: "permission", decision: "reject", message: "no" } as const;
  const places = ["command line", "dashboard", "api", "model"] as const;
  const told = await Promise.allSettled(
    places.map((by, index) => side.engine.answerTask(waiting, index === 0 ? YES : NO, undefined, by)),
  );
  const error = (one: PromiseSettledResult<void>) => (one.status === "rejected" ? one.reason.message : null);
  const lost = expect.stringContaining("was already allowed once, from the command line.");
  expect(told.map(error)).toEqual([null, lost, lost, lost]);
  const detail = { kind: "answered", reply: "allowed once", by: "command line", at: expect.any(Number) };
  const going = await when(side, task, ({ phase }) => phase === "working");
  expect(going.phaseDetail).toMatchObject(detail);
  side.host.gate("after").open();
  const over = await ended(side, task);
  expect(over).toMatchObject({ status: "completed", phase: null, phaseDetail: detail });
  await expect(side.engine.answerTask(over, NO)).rejects.toThrow("already allowed once, from the command line");
});

test("an answer by the agent's own program is reported as such, and the answer to another request is not confused with it", async () => {
  const world = newWorld();
  const side = await world.side();
  const script = world.script(ask("permission", "One?"), ask("question", "Two?"), say("x"));
  const task = await launch(side, world.parent(), script);
  const first = await when(side, task, ({ phase }) => phase === "waiting");
  const one = first.phaseDetail?.kind === "waiting" ? first.phaseDetail.requestId : "";
  await side.host.answer(task.sessionId, one, YES);
  const second = await when(
    side,
    task,
    ({ phaseDetail }) => phaseDetail?.kind === "waiting" && phaseDetail.text === "Two?",
  );
  await expect(side.engine.answerTask(second, YES, one, "dashboard")).rejects.toMatchObject({
    code: "nothing_asked",
    details: { reply: "allowed once", by: "host" },
  });
  await side.engine.answerTask(second, { kind: "question", answers: null }, undefined, "dashboard");
  expect((await ended(side, task)).phaseDetail).toMatchObject({ reply: "turned down", by: "dashboard" });
});

test("an answer that its host did not accept is attributed to nobody", async () => {
  const world = newWorld();
  let isOpen = false;
  const side = await world.side({
    host: (host) => ({ answer: async (...given) => isOpen && (await host.answer(...given)) }),
  });
  const task = await launch(side, world.parent(), world.script(ask("permission", "May I?"), say("x")));
  const waiting = await when(side, task, ({ phase }) => phase === "waiting");
  await expect(side.engine.answerTask(waiting, YES, undefined, "dashboard")).rejects.toThrow("does not wait");
  isOpen = true;
  await side.engine.answerTask(waiting, { ...YES, decision: "always" }, undefined, "command line");
  expect((await ended(side, task)).phaseDetail).toMatchObject({ reply: "always allowed", by: "command line" });
});

test("what is asked or answered while the list is being read is not undone by it", async () => {
  const world = newWorld();
  const words = heard();
  let during: (sessionId: string) => void = () => {};
  let list: (sessionId: string) => { requestId: string }[] = () => [];
  let session = "";
  const side = await world.side({
    host: (host) => ({
      ...words.host(host),
      requests: async () => {
        const read = list(session).map(({ requestId }) => {
          return { sessionId: session, above: [], requestId, asks: "permission" as const, text: "May I?" };
        });
        during(session);
        return read;
      },
    }),
    settings: { pollMs: 5 },
  });
  const task = await launch(side, world.parent(), world.script(gate("held"), say("done")));
  session = task.sessionId;
  await side.host.gate("held").reachedBy(1);
  const asked = { type: "session.asked", sessionId: session, requestId: "r1", asks: "permission", text: "?" } as const;
  during = () => words.emit(asked);
  await when(side, task, ({ phase }) => phase === "waiting");
  list = () => [{ requestId: "r1" }];
  during = () => words.emit({ type: "session.answered", sessionId: session, requestId: "r1" });
  await when(side, task, ({ phase }) => phase === "working");
  during = () => {};
  await polls(side, 3);
  expect(await side.store.task(task.id)).toMatchObject({ phase: "working", phaseDetail: null });
});

test("a process that takes over a waiting run knows what it waits for", async () => {
  const world = newWorld();
  const one = await world.side({ host: () => ({ prompt: async () => undefined }) });
  const task = await launch(one, world.parent(), world.script(ask("permission", "May I?"), say("thanks")));
  await one.kill();
  const two = await world.side({ host: without("session.asked"), settings: { pollMs: 5 } });
  const { messageId, prompt: text } = task.run;
  await two.host.prompt(task.sessionId, { messageId, text, agent: task.agent, model: null });
  await two.supervisor.recover();
  await two.engine.answerTask(await when(two, task, ({ phase }) => phase === "waiting"), YES);
  expect(await ended(two, task)).toMatchObject({ status: "completed", run: { result: "thanks" } });
});
