import { describe, expect, test } from "bun:test";
import { SpanStatusCode } from "@opentelemetry/api";
import { spanIdOf, traceIdOf } from "../../../src/engine/telemetry/trace-ids.ts";
import { ask, call, fail, gate, say } from "../../../src/hosts/scripted/script.ts";
import { AsyncAgentsError } from "../../../src/model/errors.ts";
import { create } from "../../../src/testing/sample-task.ts";
import { callerOf, ended, launch, newWorld, notices, when } from "../engine-bed.ts";
import { below, ms, reportingSide, spanOf } from "./telemetry-bed.ts";

const DEEP = { settings: { maxDepth: 3 } };

describe("a run that ended", () => {
  test("is a span with the times of the run, and its tool calls are below it", async () => {
    const world = newWorld();
    const side = await reportingSide(world);
    const prompt = world.script(call("read", { output: "text" }), call("bash", { fails: "no such file" }), say("done"));
    const task = await ended(side, await launch(side, world.parent(), `${prompt} secret words`));
    const spans = await side.spans();
    const run = spanOf(spans, task.id);
    expect(run.name).toBe("invoke_agent general");
    expect([ms(run.startTime), ms(run.endTime)]).toEqual([task.run.startedAt, task.run.endedAt ?? 0]);
    expect(run.status.code).toBe(SpanStatusCode.UNSET);
    expect(run.parentSpanContext).toBeUndefined();
    expect(run.links).toEqual([]);
    expect(run.attributes).toMatchObject({
      "gen_ai.operation.name": "invoke_agent",
      "gen_ai.provider.name": "scripted",
      "gen_ai.agent.name": "general",
      "gen_ai.conversation.id": task.sessionId,
      "gen_ai.usage.input_tokens": task.progress.tokens.input,
      "gen_ai.usage.output_tokens": task.progress.tokens.output,
      "asyncagents.run.outcome": "completed",
      "asyncagents.run.tool_calls": 2,
    });
    expect(task.progress.tokens.input).toBeGreaterThan(0);
    const tools = below(spans, run.spanContext());
    expect(tools.map(({ name, status }) => [name, status.code])).toEqual([
      ["execute_tool read", SpanStatusCode.UNSET],
      ["execute_tool bash", SpanStatusCode.ERROR],
    ]);
    expect(tools[1]?.attributes).toMatchObject({ "gen_ai.operation.name": "execute_tool", "error.type": "tool_error" });
    for (const { startTime, endTime } of tools) {
      expect(ms(startTime)).toBeGreaterThanOrEqual(task.run.startedAt);
      expect(ms(endTime)).toBeLessThanOrEqual(task.run.endedAt ?? 0);
    }
    expect(spans).toHaveLength(3);
  });

  test("is told as ever, once, if the user's own part of the SDK throws", async () => {
    const world = newWorld();
    const process = () => {
      throw new Error("a view failed");
    };
    const side = await reportingSide(world, { views: [{ instrumentName: "*", attributesProcessors: [{ process }] }] });
    const parent = world.parent();
    const task = await ended(side, await launch(side, parent, world.script(say("done"))));
    expect(task.status).toBe("completed");
    await notices(side, parent, "delivered", 1);
    // A launch whose writer hears that it failed would be made again.
    await create(side.telemetry.store, "direct");
    expect(side.logged).toContain("something was not measured");
  });

  test("says nothing of what was written: no prompt, result, error, description or path", async () => {
    const world = newWorld();
    const side = await reportingSide(world);
    const prompt = world.script(call("bash", { fails: "secret-output" }), fail("secret-error /srv/secret"));
    await ended(side, await launch(side, world.parent(), `${prompt} secret-prompt`, { description: "secret-title" }));
    const spans = await side.spans();
    const told = spans.map(({ name, attributes, status, events }) => ({ name, attributes, status, events }));
    expect(told).toHaveLength(2);
    expect(JSON.stringify(told)).not.toMatch(/secret|\/srv/);
  });

  test("is an error if it failed, and none if it was cancelled", async () => {
    const world = newWorld();
    const side = await reportingSide(world);
    const failed = await ended(side, await launch(side, world.parent(), world.script(fail("overloaded"))));
    const parent = world.parent();
    const waits = await launch(side, parent, world.script(call("bash"), ask("question", "Which?")));
    await when(side, waits, ({ phase }) => phase === "waiting");
    await side.engine.cancel(parent, waits.id);
    const cancelled = await ended(side, waits);
    expect(cancelled.status).toBe("cancelled");
    const spans = await side.spans();
    const [one, other] = [spanOf(spans, failed.id), spanOf(spans, cancelled.id)];
    expect(one.status.code).toBe(SpanStatusCode.ERROR);
    expect(one.attributes).toMatchObject({ "error.type": "_OTHER", "asyncagents.run.outcome": "error" });
    expect(other.status.code).toBe(SpanStatusCode.UNSET);
    expect(other.attributes).toMatchObject({ "asyncagents.run.outcome": "cancelled" });
    expect(other.attributes).not.toHaveProperty("error.type");
    expect(await side.measured("asyncagents.runs")).toEqual([
      { attributes: expect.objectContaining({ "asyncagents.run.outcome": "error" }), value: 1 },
      { attributes: expect.objectContaining({ "asyncagents.run.outcome": "cancelled" }), value: 1 },
    ]);
  });

  test("is reported without its tool calls if its session cannot be read", async () => {
    const world = newWorld();
    const gone = () => Promise.reject(new AsyncAgentsError("session_gone", "gone"));
    const side = await reportingSide(world, { host: () => ({ messages: gone }) });
    const task = await ended(side, await launch(side, world.parent(), world.script(call("read"), say("done"))));
    const spans = await side.spans();
    expect(spans).toHaveLength(1);
    expect(spanOf(spans, task.id).attributes["asyncagents.run.tool_calls"]).toBe(1);
    expect(side.logged).toContain("the tool calls of a run are missing in the telemetry");
  });
});

describe("the tree", () => {
  test("has a task of a task under its parent's run, also of another process, and a resume is linked", async () => {
    const world = newWorld();
    const [here, there] = [await reportingSide(world, DEEP), await reportingSide(world, DEEP)];
    const top = await launch(here, world.parent(), world.script(gate("top"), say("top")));
    await when(here, top, ({ phase }) => phase === "working");
    // The process of the parent does not matter: the store says who launched it.
    const child = await ended(
      there,
      await launch(there, callerOf(top.sessionId), world.script(call("ls"), say("child"))),
    );
    const grandchild = await ended(here, await launch(here, callerOf(child.sessionId), world.script(say("deep"))));
    here.host.gate("top").open();
    const first = await ended(here, top);
    const resumed = await here.engine.resume(callerOf(first.parentSessionId), first.id, world.script(say("more")));
    await ended(here, resumed);
    const late = await ended(there, await launch(there, callerOf(top.sessionId), world.script(say("late"))));

    const [ours, theirs] = [await here.spans(), await there.spans()];
    const all = [...ours, ...theirs];
    const root = spanOf(ours, top.id);
    expect(root.parentSpanContext).toBeUndefined();
    expect(root.spanContext()).toMatchObject({ traceId: traceIdOf(top.id, 0), spanId: spanIdOf(top.id, 0) });
    const under = (taskId: string, run = 0) => spanOf(all, taskId, run);
    expect(below(all, root.spanContext())).toEqual([spanOf(theirs, child.id)]);
    expect(below(all, under(child.id).spanContext()).map(({ name }) => name)).toEqual([
      "execute_tool ls",
      "invoke_agent general",
    ]);
    expect(under(grandchild.id).spanContext().traceId).toBe(root.spanContext().traceId);
    // A resume is a trace of its own: it may come days later.
    const again = under(top.id, 1);
    expect(again.parentSpanContext).toBeUndefined();
    expect(again.spanContext().traceId).not.toBe(root.spanContext().traceId);
    expect(again.links.map(({ context }) => context)).toEqual([expect.objectContaining({ ...idsOf(root) })]);
    expect(below(all, again.spanContext())).toEqual([spanOf(theirs, late.id)]);
  });

  test("has no parents and links that nobody finds, if the SDK makes its own ids", async () => {
    const world = newWorld();
    const side = await reportingSide(world, { ...DEEP, usesIds: false });
    const parent = await ended(side, await launch(side, world.parent(), world.script(say("parent"))));
    await side.spans();
    const child = await ended(side, await launch(side, callerOf(parent.sessionId), world.script(say("child"))));
    const span = spanOf(await side.spans(), child.id);
    expect(span.parentSpanContext).toBeUndefined();
    expect(span.attributes["asyncagents.parent.conversation.id"]).toBe(parent.sessionId);
  });
});

describe("several processes", () => {
  test("report a run of one that died once, as interrupted, with what it had done", async () => {
    const world = newWorld();
    const dying = await reportingSide(world);
    const task = await launch(dying, world.parent(), world.script(call("read"), gate("never"), say("never")));
    await when(dying, task, ({ progress }) => progress.toolCalls === 1);
    await dying.kill();
    const heirs = await Promise.all([reportingSide(world), reportingSide(world)]);
    await Promise.all(heirs.map(({ engine }) => engine.recover()));
    await ended(heirs[0], task);
    const spans = (await Promise.all([dying, ...heirs].map((side) => side.spans()))).flat();
    const run = spanOf(spans, task.id);
    expect(run.status.code).toBe(SpanStatusCode.ERROR);
    expect(run.attributes["error.type"]).toBe("interrupted");
    expect(run.spanContext().spanId).toBe(spanIdOf(task.id, 0));
    expect(below(spans, run.spanContext()).map(({ name }) => name)).toEqual(["execute_tool read"]);
    const counted = (await Promise.all(heirs.map((side) => side.measured("asyncagents.runs")))).flat();
    expect(counted.map(({ value }) => value)).toEqual([1]);
  });

  test("do not report what was not stored", async () => {
    const world = newWorld();
    const side = await reportingSide(world, {
      under: (store) => ({
        ...store,
        apply: (id, event, expected) =>
          event.type === "run.completed"
            ? Promise.reject(new AsyncAgentsError("store_unavailable", "no"))
            : store.apply(id, event, expected),
      }),
    });
    const task = await launch(side, world.parent(), world.script(say("done")));
    await when(side, task, ({ phase }) => phase === "working");
    await side.engine.interrupt();
    expect((await side.store.task(task.id))?.status).toBe("running");
    expect(await side.spans()).toEqual([]);
  });
});

test("launches, durations, tokens, waiting, notices and live runs are measured", async () => {
  const world = newWorld();
  const side = await reportingSide(world);
  const parent = world.parent();
  const prompt = world.script(gate("go"), say("done"));
  const task = await launch(side, parent, prompt);
  await when(side, task, ({ phase }) => phase === "working");
  const live = await side.measured("asyncagents.runs.live");
  expect(live.filter(({ value }) => value > 0)).toEqual([{ attributes: { "asyncagents.phase": "working" }, value: 1 }]);
  side.host.gate("go").open();
  await ended(side, task);
  await notices(side, parent, "delivered", 1);
  const count = async (name: string) => (await side.measured(name)).map(({ value }) => value);
  expect(await count("asyncagents.tasks")).toEqual([1]);
  expect(await count("gen_ai.client.operation.duration")).toEqual([1]);
  expect(await side.measured("gen_ai.client.token.usage")).toEqual([
    { attributes: expect.objectContaining({ "gen_ai.token.type": "input" }), value: 1 },
    { attributes: expect.objectContaining({ "gen_ai.token.type": "output" }), value: 1 },
  ]);
  expect(await count("asyncagents.queue.duration")).toEqual([1]);
  expect(await side.measured("asyncagents.notices")).toEqual([
    { attributes: { "asyncagents.notice.state": "delivered" }, value: 1 },
  ]);
  expect(await count("asyncagents.notice.delay")).toEqual([1]);
});

function idsOf(span: { spanContext(): { traceId: string; spanId: string } }) {
  const { traceId, spanId } = span.spanContext();
  return { traceId, spanId };
}
