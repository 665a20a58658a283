/** Written rules answer what agents ask: at once, or when nobody answered in time. */
import { expect, test } from "bun:test";
import { ask, call, gate, say } from "../../../src/hosts/scripted/script.ts";
import type { ScriptedHost } from "../../../src/hosts/scripted/scripted-host.ts";
import type { RequestRule } from "../../../src/model/request-policy.ts";
import { ended, launch, newWorld, notices, polls, type Side, type World, when } from "../engine-bed.ts";

const MINUTE = 60_000;
const LATER: RequestRule = { tool: "bash", decision: "ask", minutes: 10, otherwise: "deny" };

function sideWith(world: World, rules: RequestRule[], host?: (scripted: ScriptedHost) => Partial<ScriptedHost>) {
  return world.side({ settings: { rules, pollMs: 5 }, ...(host && { host }) });
}

async function phases({ store }: Side, id: string): Promise<string[]> {
  const entries = await store.entriesOf([id], { after: 0, before: Number.MAX_SAFE_INTEGER });
  return entries.flatMap(({ event }) => (event.type === "run.phased" ? [event.phase] : []));
}

/** What the agent's tool call came to. */
function outputs(world: World, sessionId: string): (string | null)[] {
  const calls = world.messages(sessionId).flatMap((message) => (message.role === "assistant" ? message.calls : []));
  return calls.map(({ output, error }) => output ?? error);
}

test("a rule that allows answers at once, in nobody's way, and is recorded", async () => {
  const world = newWorld();
  const side = await sideWith(world, [{ agent: "general", tool: "bash", pattern: "git *", decision: "allow" }]);
  const parent = world.parent();
  const task = await launch(side, parent, world.script(ask("permission", "bash: git status"), call("read"), say("ok")));
  const over = await ended(side, task);
  expect(over).toMatchObject({ status: "completed", phaseDetail: { reply: "allowed once", by: "policy" } });
  expect(over.phaseDetail).toHaveProperty("appliedAt");
  expect(await phases(side, task.id)).not.toContain("waiting");
  await notices(side, parent, "delivered", 1);
  expect(world.told(parent)).toEqual(["told task#0 ended"]);
});

test("a rule that denies tells the agent why, and the agent continues", async () => {
  const world = newWorld();
  const side = await sideWith(world, [{ tool: "bash", decision: "deny", reason: "Use the tools." }]);
  const task = await launch(side, world.parent(), world.script(ask("permission", "bash: rm x"), say("without it")));
  expect(await ended(side, task)).toMatchObject({
    status: "completed",
    run: { result: "without it" },
    phaseDetail: { reply: "rejected", by: "policy" },
  });
  expect(outputs(world, task.sessionId)).toEqual(["A policy denies this. Use the tools."]);
});

test("a person has the time that the rule gives, and not longer; a question is left to the agent", async () => {
  const world = newWorld();
  const side = await sideWith(world, [LATER, { tool: "question", decision: "ask", minutes: 10, otherwise: "deny" }]);
  for (const [asks, told] of [
    ["permission", "Nobody answered within 10 minutes. A policy denies this. Continue without it."],
    [
      "question",
      "Nobody answered within 10 minutes. A policy leaves this to you. Decide yourself, or finish without an answer.",
    ],
  ] as const) {
    const task = await launch(side, world.parent(), world.script(ask(asks, "bash: rm x"), say("on")));
    const waiting = await when(side, task, ({ phase }) => phase === "waiting");
    const detail = waiting.phaseDetail?.kind === "waiting" ? waiting.phaseDetail : null;
    expect(detail?.policy).toMatchObject({ decision: "deny", until: (detail?.at ?? 0) + 10 * MINUTE });
    world.pass(9 * MINUTE);
    await polls(side, 3);
    expect((await side.store.task(task.id))?.phase).toBe("waiting");
    world.pass(2 * MINUTE);
    expect(await ended(side, task)).toMatchObject({ status: "completed", phaseDetail: { by: "policy" } });
    expect(outputs(world, task.sessionId)).toEqual([told]);
  }
});

test("an answer in time counts, and the rule is not followed any more", async () => {
  const world = newWorld();
  const side = await sideWith(world, [LATER]);
  const task = await launch(side, world.parent(), world.script(ask("permission", "bash: rm x"), gate("on"), say("on")));
  const waiting = await when(side, task, ({ phase }) => phase === "waiting");
  await side.engine.answerTask(
    waiting,
    { kind: "permission", decision: "once", message: null },
    undefined,
    "dashboard",
  );
  world.pass(20 * MINUTE);
  await polls(side, 3);
  side.host.gate("on").open();
  expect((await ended(side, task)).phaseDetail).toMatchObject({ reply: "allowed once", by: "dashboard" });
  expect(outputs(world, task.sessionId)).toEqual(["accepted"]);
});

test("whoever answers after the rule is told about it", async () => {
  const world = newWorld();
  const side = await sideWith(world, [{ decision: "allow" }]);
  const task = await launch(side, world.parent(), world.script(ask("permission", "bash: x"), gate("on"), say("on")));
  const going = await when(side, task, ({ phaseDetail }) => phaseDetail?.kind === "answered");
  const reply = { kind: "permission", decision: "reject", message: null } as const;
  expect(side.engine.answerTask(going, reply)).rejects.toThrow("was already allowed once, by a policy. This answer");
});

test("the time limit counts from the question, also in the next process", async () => {
  const world = newWorld();
  const first = await sideWith(world, [LATER]);
  const task = await launch(first, world.parent(), world.script(ask("permission", "bash: rm x"), say("on")));
  await when(first, task, ({ phase }) => phase === "waiting");
  await first.engine.stop();
  world.pass(11 * MINUTE);
  // It has no rules of its own: what was promised with the question holds.
  const second = await sideWith(world, [], () => first.host);
  await second.engine.recover();
  expect(await ended(second, task)).toMatchObject({ status: "completed", phaseDetail: { by: "policy" } });
});

test("where the host does not take the answer of a rule, a person is asked", async () => {
  const world = newWorld();
  let isBroken = true;
  const side = await sideWith(world, [{ decision: "allow" }], (scripted) => ({
    answer: (...given) => (isBroken ? Promise.reject(new Error("no line")) : (scripted.answer?.(...given) as never)),
  }));
  const task = await launch(side, world.parent(), world.script(ask("permission", "bash: x"), say("on")));
  const waiting = await when(side, task, ({ phase }) => phase === "waiting");
  isBroken = false;
  await side.engine.answerTask(
    waiting,
    { kind: "permission", decision: "once", message: null },
    undefined,
    "dashboard",
  );
  expect((await ended(side, task)).phaseDetail).toMatchObject({ by: "dashboard" });
});
