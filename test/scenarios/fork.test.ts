/**
 * Forked tasks on the real OpenCode: they get the parent's history, cut to its limits, and the agent is told so.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { call, calls, gate, say } from "../../src/testing/models/script.ts";
import { type Parent, World } from "./world.ts";

let world: World;
beforeAll(async () => {
  const options = {
    forkWholeOutputs: 1,
    forkRecentOutputs: 1,
    forkRecentChars: 900,
    forkOlderChars: 200,
    forkTokens: 4000,
  };
  const line = (name: string) => `${name} begins\n${`${name} goes on\n`.repeat(200)}${name} ends\n`;
  const files = { "oldest.txt": line("oldest"), "older.txt": line("older"), "newest.txt": line("newest") };
  world = await World.start({ options, files });
});
afterAll(() => world?.stop());

async function readInto(parent: Parent, ...names: string[]): Promise<void> {
  for (const name of names) {
    const script = world.script(call("read", { filePath: name }), say(`I have read ${name}`));
    await world.opencode.prompt(parent.sessionId, `${script} read ${name}`);
  }
}

test("a fork starts with the parent's history, its outputs shortened by age [AT-01.2, AT-10.1]", async () => {
  const parent = await world.parent();
  await readInto(parent, "oldest.txt", "older.txt", "newest.txt");
  const id = await parent.launch([say("seen it all")], { fork: true });
  const task = await world.ended(id);
  expect(task.isForked).toBe(true);
  expect(task.status).toBe("completed");
  const [request] = world.model.requestsOf(id);
  const [oldest, older, newest] = request?.request.toolResults("read") ?? [];
  expect(newest).toContain("newest ends");
  expect(newest?.length).toBeGreaterThan(2500);
  expect(older).toContain("older begins");
  expect(older).toContain("characters cut");
  expect(older?.length).toBeLessThan(1000);
  expect(oldest).toContain("characters cut");
  expect(oldest?.length).toBeLessThan(300);
  const history = JSON.stringify(request?.request.messages);
  expect(history).toContain("I have read oldest.txt");
  expect(history).not.toContain('"name":"asyncagents_task"');
  const whole = (await world.opencode.messages(parent.sessionId)).flatMap((message) => message.parts);
  const outputs = whole.flatMap((part) =>
    part.type === "tool" && part.state.status === "completed" ? [part.state.output] : [],
  );
  expect(outputs.filter((output) => output.includes("characters cut")).length).toBe(0);
});

test("the agent is told about the limits before its task, without a turn [AT-11.1]", async () => {
  const parent = await world.parent();
  await readInto(parent, "newest.txt");
  const id = await parent.launch([say("ok")], { fork: true });
  await world.ended(id);
  const requests = world.model.requestsOf(id);
  expect(requests.length).toBe(1);
  const texts = requests[0]?.request.userTexts ?? [];
  const preamble = texts.at(-2) ?? "";
  expect(preamble).toContain("may be truncated");
  expect(preamble).toContain("read it again");
  expect(texts.at(-1)).toContain("work");
  const message = (await world.opencode.messages(id)).find(({ parts }) =>
    parts.some((part) => part.type === "text" && part.text === preamble),
  );
  expect(message?.parts.every((part) => part.type === "text" && part.synthetic === true)).toBe(true);
});

test("the id is returned before the history is rewritten", async () => {
  const parent = await world.parent();
  await readInto(parent, "oldest.txt", "newest.txt");
  const id = await parent.launch([say("ok")], { fork: true });
  await world.ended(id);
  const events = (await world.store.feed(0, 500)).filter((entry) => entry.taskId === id).map((entry) => entry.event);
  const created = events.find((event) => event.type === "task.created");
  const working = events.find((event) => event.type === "run.phased" && event.phase === "working");
  const messages = await world.opencode.messages(id);
  const preamble = messages.find(({ parts }) =>
    parts.some((part) => part.type === "text" && part.text.includes("may be truncated")),
  );
  expect(created?.at ?? 0).toBeLessThanOrEqual(preamble?.info.time.created ?? 0);
  expect(working?.at ?? 0).toBeGreaterThanOrEqual(preamble?.info.time.created ?? 0);
});

test("the oldest turns are dropped when the history exceeds its limit, and one huge message is cut", async () => {
  const parent = await world.parent();
  for (const name of ["first", "second", "third"]) {
    await world.opencode.prompt(
      parent.sessionId,
      `${world.script(say(`answer to ${name}`))} ${name} ${"x".repeat(7000)}`,
    );
  }
  const id = await parent.launch([say("ok")], { fork: true });
  await world.ended(id);
  const texts = (world.model.requestsOf(id)[0]?.request.userTexts ?? []).join("\n");
  expect(texts).not.toContain("first xxx");
  expect(texts).toContain("third xxx");
  expect(texts.length).toBeLessThan(4000 * 4 + 2000);

  const huge = await world.parent();
  await world.opencode.prompt(huge.sessionId, `${world.script(say("that was long"))} ${"y".repeat(500_000)}`);
  const fork = await huge.launch([say("ok")], { fork: true });
  await world.ended(fork);
  expect((world.model.requestsOf(fork)[0]?.request.userTexts ?? []).join("\n").length).toBeLessThan(4000 * 4 + 2000);
});

test("usage counts only what comes after the fork", async () => {
  const parent = await world.parent();
  await readInto(parent, "newest.txt", "older.txt");
  const fork = await world.ended(await parent.launch([say("ok")], { fork: true }));
  const fresh = await world.ended(await parent.launch([say("ok")]));
  expect(fork.progress.tokens).toEqual(fresh.progress.tokens);
  expect(fork.progress.toolCalls).toBe(0);
});

test("the list marks a fork after its id [AT-09.2, AT-10.3]", async () => {
  const parent = await world.parent();
  const id = await parent.launch([say("ok")], { fork: true });
  await world.ended(id);
  expect(await parent.ask("list")).toContain(`${id} (forked)`);
});

test("fork with resume is rejected and creates nothing [AT-01.3, AT-10.2]", async () => {
  const parent = await world.parent();
  const id = await parent.launch([say("ok")]);
  await world.ended(id);
  const sessions = (await world.opencode.client.sessions()).length;
  const answer = await parent.ask("task", { fork: true, resume: id, prompt: "x", description: "x", agent: "general" });
  expect(answer).toContain("mutually exclusive");
  expect((await world.store.tasks({ parentSessionId: parent.sessionId })).total).toBe(1);
  expect((await world.task(id)).run.number).toBe(0);
  expect((await world.opencode.client.sessions()).length).toBe(sessions);
});

test("deleting a parent ends its tasks, including forks [AT-F-08]", async () => {
  const parent = await world.parent();
  const done = await parent.launch([say("done")]);
  await parent.notice(done);
  const [child] = await parent.launchAll([[gate("orphan"), say("never")]]);
  const fork = await parent.launch([gate("orphan"), say("never")], { fork: true });
  await world.model.gate("orphan").reachedBy(2);
  await world.opencode.deleteSession(parent.sessionId);
  for (const id of [child ?? "", fork]) {
    const task = await world.until(
      id,
      (now) => now.clearedAt !== null && now.status === "cancelled",
      "cancelled and cleared",
    );
    expect(task.status).toBe("cancelled");
  }
  await world.until(done, (task) => task.clearedAt !== null, "cleared");
  expect((await world.store.tasks({ parentSessionId: parent.sessionId, cleared: false })).total).toBe(0);
  expect((await world.task(done)).status).toBe("completed");
  expect(await world.store.notices(parent.sessionId, "pending")).toEqual([]);
  world.model.gate("orphan").open();
});

test("cancel on a batch ends all of its live tasks and no other [AT-F-09]", async () => {
  const parent = await world.parent();
  const batch = await parent.launchAll([[gate("nine"), say("a")], [gate("nine"), say("b")], [say("c")]], {
    batch: "nine",
  });
  const outside = await parent.launch([gate("nine"), say("d")], { batch: "ten" });
  await world.ended(batch[2] ?? "");
  await world.model.gate("nine").reachedBy(3);
  await parent.ask("cancel", { batch: "nine" });
  const statuses = await Promise.all(batch.map(async (id) => (await world.task(id)).status));
  expect(statuses).toEqual(["cancelled", "cancelled", "completed"]);
  expect((await world.task(outside)).status).toBe("running");
  world.model.gate("nine").open();
  expect((await world.ended(outside)).status).toBe("completed");
});

test("cancel stops the sessions that a task opened itself", async () => {
  const lead = await World.start({
    model: world.model,
    config: {
      subagent_depth: 3,
      agent: { lead: { mode: "subagent", description: "leads", permission: { task: "allow" } } },
    },
  });
  try {
    const parent = await lead.parent();
    const below = lead.script(gate("below"), call("bash", { command: "echo no", description: "x" }), say("never"));
    const step = calls([
      { name: "task", input: { description: "below", prompt: `${below} go`, subagent_type: "general" } },
    ]);
    const id = await parent.launch([step, say("never")], { agent: "lead" });
    await world.model.gate("below").reached;
    const [grandchild] = await lead.opencode.client.children(id);
    await parent.ask("cancel", { task_id: id });
    expect((await lead.task(id)).status).toBe("cancelled");
    world.model.gate("below").open();
    await lead.opencode.waitIdle(grandchild?.id ?? "");
    expect(world.model.requestsOf(grandchild?.id ?? "").length).toBe(1);
  } finally {
    await lead.stop();
  }
});
