import { expect, test } from "bun:test";
import { ask, call, gate, retry, say } from "../../../src/hosts/scripted/script.ts";
import { ended, launch, newWorld, when } from "../engine-bed.ts";

test("what a run spent its time on is stored while it works and when it has ended", async () => {
  const world = newWorld();
  const side = await world.side();
  const script = world.script(
    call("bash", { fails: "no" }),
    ask("permission", "bash: rm"),
    retry("overloaded", 1),
    say("done"),
  );
  const task = await launch(side, world.parent(), script);
  const { phaseDetail } = await when(side, task, ({ phase }) => phase === "waiting");
  const [live] = await side.store.spans({ taskId: task.id });
  expect(live?.spans.map(({ kind, to }) => [kind, to === null])).toEqual([
    ["queued", false],
    ["call", false],
    ["call", true],
    ["waiting", true],
  ]);
  const requestId = phaseDetail?.kind === "waiting" ? phaseDetail.requestId : "";
  await side.host.answer?.(task.sessionId, requestId, { kind: "permission", decision: "once", message: null });
  await ended(side, task);
  const [stored] = await side.store.spans({ taskId: task.id });
  expect(stored?.spans.map(({ kind, name, failed }) => [kind, name, failed])).toEqual([
    ["queued", null, 0],
    ["call", "bash", 1],
    ["call", "permission", 0],
    ["waiting", null, 0],
    ["retrying", null, 0],
  ]);
  expect(stored?.spans.every(({ to }) => to !== null)).toBe(true);
});

test("a run that another process takes over keeps what the first one stored", async () => {
  const world = newWorld();
  const one = await world.side({ host: () => ({ prompt: async () => undefined }) });
  const task = await launch(one, world.parent(), world.script(gate("held"), call("bash"), say("after all")));
  await when(one, task, ({ phase }) => phase === "working");
  await one.kill();
  const two = await world.side();
  const { messageId, prompt: text } = task.run;
  await two.host.prompt(task.sessionId, { messageId, text, agent: task.agent, model: null });
  await two.host.gate("held").reachedBy(1);
  await two.supervisor.recover();
  two.host.gate("held").open();
  await ended(two, task);
  const [stored] = await two.store.spans({ taskId: task.id });
  expect(stored?.spans.map(({ kind }) => kind)).toEqual(["queued", "call"]);
});
