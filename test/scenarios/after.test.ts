/**
 * Tasks that start after others, on the real OpenCode: a chain of five in which one fails, under each policy, with the
 * results handed on, and what a caller may not wait for.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { IfFailed } from "../../src/model/after.ts";
import { fail, gate, type Script, say } from "../../src/testing/models/script.ts";
import { type Parent, World } from "./world.ts";

let world: World;
beforeAll(async () => {
  world = await World.start();
});
afterAll(() => world?.stop());

/** A launch whose prompt has the result of the task before it. */
function next(parent: Parent, description: string, steps: Script, before: string, if_failed?: IfFailed) {
  const prompt = `${world.script(...steps)} go on with {{result:${before}}}`;
  return parent.launch([], { description, prompt, after: [before], ...(if_failed && { if_failed }) });
}

/** Five tasks, each after the one before it. The first waits at the gate, and the third fails. */
async function chain(parent: Parent, name: string, policies: (IfFailed | undefined)[]): Promise<string[]> {
  const steps = [
    [gate(name), say(`${name} one`)],
    [say(`${name} two`)],
    [fail(400, "no credit")],
    [say(`${name} four`)],
    [say(`${name} five`)],
  ];
  const ids = [await parent.launch(steps[0] ?? [], { description: "link 1" })];
  for (const [index, policy] of policies.entries()) {
    const before = ids.at(-1) ?? "";
    ids.push(await next(parent, `link ${index + 2}`, steps[index + 1] ?? [], before, policy));
  }
  await world.model.gate(name).reached;
  return ids;
}

/** What the model was asked in the session of a task: the prompts, one for each run. */
async function promptOf(id: string): Promise<string> {
  const { sessionId } = await world.task(id);
  const [request] = world.model.requestsOf(sessionId);
  return request?.request.userTexts.join("\n") ?? "";
}

const outcome = async (id: string) => {
  const { status, run } = await world.ended(id);
  return `${status}: ${run.result ?? run.error}`;
};

describe("a chain of five in which the third fails", () => {
  test("with skip: what follows is not run, and the parent is told of each once", async () => {
    const parent = await world.parent();
    const [one = "", two = "", three = "", four = "", five = ""] = await chain(
      parent,
      "skip",
      Array(4).fill(undefined),
    );
    const waiting = await world.task(five);
    expect([waiting.phase, waiting.phaseDetail, waiting.sessionId]).toEqual(["queued", { kind: "after" }, ""]);
    expect(await parent.ask("list")).toContain(`${five} | running, starts after ${four}`);
    world.model.gate("skip").open();
    expect([await outcome(one), await outcome(two)]).toEqual(["completed: skip one", "completed: skip two"]);
    expect(await outcome(three)).toContain("no credit");
    expect(await outcome(four)).toBe(`cancelled: Not run: it was to start after task ${three}, which failed.`);
    expect(await outcome(five)).toBe(`cancelled: Not run: it was to start after task ${four}, which was cancelled.`);
    expect(await promptOf(two)).toContain(`--- result of task ${one}, quoted until [`);
    expect(await promptOf(two)).toContain("skip one");
    await world.settled();
    await world.opencode.waitIdle(parent.sessionId);
    const told = await parent.told();
    expect([one, two, three, four, five].map((id) => told.get(id))).toEqual([1, 1, 1, 1, 1]);
    const notice = (await parent.notices()).find(({ hidden }) => hidden.includes(`Task ${four}:`));
    expect(notice?.visible).toContain('⊘ **Agent "link 4" was not run.**');
    expect(notice?.hidden).toContain(`after task ${three}, which failed. It has no result.`);
    const { total } = await world.store.tasks({ parentSessionId: parent.sessionId });
    expect([total, (await world.task(five)).batchId]).toEqual([5, waiting.batchId]);
  }, 120_000);

  test("with run_anyway: the next one runs once and is given the error, and the chain goes on", async () => {
    const parent = await world.parent();
    const [, , three = "", four = "", five = ""] = await chain(parent, "anyway", [
      undefined,
      undefined,
      "run_anyway",
      undefined,
    ]);
    world.model.gate("anyway").open();
    expect([await outcome(four), await outcome(five)]).toEqual(["completed: anyway four", "completed: anyway five"]);
    expect(await promptOf(four)).toContain(`task ${three} did not complete; its error, quoted until [`);
    expect(await promptOf(four)).toContain("no credit");
    for (const id of [four, five]) {
      expect(world.model.requestsOf((await world.task(id)).sessionId)).toHaveLength(1);
      const { run } = await world.task(id);
      expect(run.startedAt).toBeGreaterThanOrEqual((await world.task(three)).run.endedAt ?? Number.POSITIVE_INFINITY);
    }
  }, 120_000);

  test("with wait: a person is asked, and decides; the parent is told why it waits", async () => {
    const parent = await world.parent();
    const [, , three = "", four = "", five = ""] = await chain(parent, "wait", [
      undefined,
      undefined,
      "wait",
      undefined,
    ]);
    world.model.gate("wait").open();
    const blocked = await world.until(four, ({ phase }) => phase === "waiting", "a person");
    expect(blocked.phaseDetail).toMatchObject({ kind: "blocked", by: three });
    const notice = await parent.notice(`Task ${four} waits.`);
    expect(notice.visible).toContain('⏸ **Agent "link 4" cannot start.**');
    const { client } = await world.api();
    const { entries } = await client.inbox();
    expect(entries).toMatchObject([{ kind: "blocked", taskId: four, answers: ["start", "cancel"] }]);
    expect((await world.task(five)).phaseDetail).toEqual({ kind: "after" });
    const edited = await client.edit(four, { ifFailed: "run_anyway" });
    expect(edited.after).toEqual({ tasks: [three], ifFailed: "run_anyway" });
    expect([await outcome(four), await outcome(five)]).toEqual(["completed: wait four", "completed: wait five"]);
    expect((await client.inbox()).entries).toEqual([]);
    await world.settled();
  }, 120_000);
});

describe("a caller", () => {
  test("waits only for tasks of its own that exist, and for results of those", async () => {
    const parent = await world.parent();
    const other = await world.parent();
    const strange = await other.launch([gate("other"), say("x")]);
    const ask = (after: string[], prompt = "x") =>
      parent.ask("task", { description: "x", prompt, agent: "general", after });
    expect(await ask([strange])).toContain("not_allowed");
    expect(await ask(["ses_unknown"])).toContain("task_not_found");
    const own = await parent.launch([gate("other"), say("y")]);
    expect(await ask([own], `{{result:${strange}}}`)).toContain("Name it in after");
    expect((await world.store.tasks({ parentSessionId: parent.sessionId })).total).toBe(1);
    world.model.gate("other").open();
    await world.settled();
  }, 120_000);

  test("changes what waits over the API, and a cycle is refused", async () => {
    const parent = await world.parent();
    const first = await parent.launch([gate("edit"), say("1")]);
    const second = await next(parent, "second", [say("2")], first);
    const third = await next(parent, "third", [say("3")], second);
    const { client } = await world.api();
    const cycle = client.edit(second, { after: [first, third] });
    expect(await cycle.catch((thrown: Error) => thrown.message)).toContain("would wait for each other for ever");
    await client.edit(third, { after: [first], prompt: `${world.script(say("changed"))} {{result:${first}}}` });
    await client.cancel(second);
    world.model.gate("edit").open();
    expect(await outcome(third)).toBe("completed: changed");
    const late = client.edit(third, { prompt: "too late" });
    expect(await late.catch((thrown: { code: string }) => thrown.code)).toBe("task_not_live");
    await world.settled();
  }, 120_000);
});
