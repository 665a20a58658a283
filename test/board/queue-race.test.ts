/**
 * A person resumes in one process while the queue dispatches in another: no queued prompt is lost, and none runs
 * twice.
 */
import { afterAll, expect, test } from "bun:test";
import { join } from "node:path";
import { eventually } from "../../src/testing/eventually.ts";
import { faultyStore, nth, once } from "../store/faulty-store.ts";
import { refusal } from "../worktree/git-bed.ts";
import { attemptOf, boardBed, open, projectOn, runsOf, wait, whenAttempt } from "./board-bed.ts";

const bed = boardBed();
const children: Bun.Subprocess[] = [];
afterAll(async () => {
  for (const child of children) child.kill("SIGKILL");
  await Promise.all(children.map(({ exited }) => exited));
});

test("a follow-up whose run is rejected stays in the queue", async () => {
  const side = await bed.side();
  const { attempt_id } = await attemptOf(side, await projectOn(side, bed.git), "!say one");
  const { session_id } = await wait(side, attempt_id);
  const { handle } = await side.call("attempt_task", { attempt_id });
  // The pump's view just before a person resumed.
  const seen = await side.store.task(handle ?? "");
  if (seen === null || session_id === null) throw new Error("no task");
  const engine = await side.runner.open(seen.host, seen.directory);
  await engine.resumeTask(seen, { prompt: "!wait never" });
  const id = crypto.randomUUID();
  const followUp = { id, sessionId: session_id, prompt: "!say two", variant: null };
  await side.store.board.queueFollowUp({ ...followUp, queuedAt: 1 });
  const refused = await refusal(engine.resumeTask(seen, { prompt: "!say two", followUpId: id }));
  expect(refused.code).toBe("task_resuming");
  expect((await side.store.board.queue(session_id)).head?.id).toBe(id);
});

test("prompts queued while another process keeps resuming the task all run, each once, in order", async () => {
  const side = await bed.side();
  const { attempt_id } = await attemptOf(side, await projectOn(side, bed.git), "!say start");
  await wait(side, attempt_id);
  const { handle } = await side.call("attempt_task", { attempt_id });
  const child = Bun.spawn([process.execPath, join(import.meta.dir, "resuming-child.ts"), side.folder, handle ?? ""], {
    stdin: "ignore",
    stdout: "pipe",
    stderr: "inherit",
  });
  children.push(child);
  const said = child.stdout.getReader();
  await said.read();
  const prompts = Array.from({ length: 5 }, (_, i) => `!say ${i}`);
  for (const prompt of prompts) await side.call("follow_up", { attempt_id, action: "queue", prompt });
  await whenAttempt(side, attempt_id, ({ queued }) => queued === 0);
  child.kill("SIGTERM");
  await child.exited;
  await whenAttempt(side, attempt_id, ({ state }) => state !== "running");
  const runs = (await side.store.batchRuns(attempt_id)).map(({ prompt }) => prompt);
  expect(runs.filter((prompt) => prompts.includes(prompt))).toEqual(prompts);
}, 240_000);

test.each(["lost", "failed"] as const)(
  "a queued prompt runs once, although the write that begins it was %s",
  async (fate) => {
    const folder = bed.git.folder();
    const { store, faults } = await faultyStore(folder);
    const side = await bed.side(folder, { store, retryPause: 1 });
    const { attempt_id } = await attemptOf(side, await projectOn(side, bed.git), "!wait go");
    await side.call("follow_up", { attempt_id, action: "queue", prompt: "!say two" });
    faults.write = once("task.resumed", fate);
    open(await side.call("get_attempt", { attempt_id }), "go");
    await whenAttempt(side, attempt_id, ({ state, queued }) => state === "completed" && queued === 0);
    await eventually(store, async () => ((await runsOf(side, attempt_id)).length === 2 ? true : null));
    await wait(side, attempt_id);
    expect(await runsOf(side, attempt_id)).toEqual([
      expect.stringContaining("!wait go: completed"),
      "!say two: completed",
    ]);
  },
);

test("a queued prompt does not begin after a run that was cancelled while it was on its way", async () => {
  const side = await bed.side(bed.git.folder());
  const { attempt_id } = await attemptOf(side, await projectOn(side, bed.git), "!say one");
  const { session_id, repos } = await wait(side, attempt_id);
  const engine = side.runner.engines().find(({ instance }) => instance.directory === repos[0]?.path);
  const session = await side.store.board.session(session_id ?? "");
  const task = await side.store.task(session?.taskId ?? "");
  if (!engine || !task) throw new Error("nothing works there");
  const [sent, door, done] = [0, 1, 2].map(() => Promise.withResolvers<void>());
  const resume = engine.resumeTask.bind(engine);
  engine.resumeTask = async (...given) => {
    sent?.resolve();
    await door?.promise;
    return resume(...given).finally(() => done?.resolve());
  };
  await side.call("follow_up", { attempt_id, action: "queue", prompt: "!say two" });
  await sent?.promise;
  const other = await resume(task, { prompt: "!wait never" });
  await engine.cancelTask(other, "not that one");
  door?.resolve();
  await done?.promise;
  const { queued_count, queue_held } = await side.call("get_attempt", { attempt_id });
  expect([queued_count, queue_held]).toEqual([1, expect.stringContaining("cancel")]);
  expect(await runsOf(side, attempt_id)).toHaveLength(2);
});

test("a prompt whose queueing failed here and is committed later runs, and is not refused", async () => {
  const folder = bed.git.folder();
  const { store, faults } = await faultyStore(folder);
  const side = await bed.side(folder, { store });
  const { attempt_id } = await attemptOf(side, await projectOn(side, bed.git), "!say one");
  await wait(side, attempt_id);
  // The first write is the entry of the audit log.
  faults.write = nth(2, "late");
  await side.call("follow_up", { attempt_id, action: "queue", prompt: "!say two" });
  await eventually(store, async () => ((await runsOf(side, attempt_id)).length === 2 ? true : null));
});

test.each(["answered", "failing"] as const)(
  "a prompt whose queueing lost its answer runs once, however often it is repeated, while reads are %s",
  async (reads) => {
    const folder = bed.git.folder();
    const { store, faults } = await faultyStore(folder);
    const side = await bed.side(folder, { store, retryPause: 1 });
    const { attempt_id } = await attemptOf(side, await projectOn(side, bed.git), "!say one");
    await wait(side, attempt_id);
    // The first writes are the entry of the audit log and the claim of the request_id.
    const third = nth(3, "lost");
    faults.write = (events) => {
      const fate = third(events);
      faults.areReadsFailing ||= fate === "lost" && reads === "failing";
      return fate;
    };
    const queue = () =>
      side.call("follow_up", { attempt_id, action: "queue", prompt: "!say two", request_id: "one" }).then(
        ({ action }) => action,
        ({ code }) => code,
      );
    const first = await queue();
    faults.areReadsFailing = false;
    const expected = reads === "failing" ? ["store_unavailable", "request_conflict"] : ["queue", "queue"];
    expect([first, await queue()]).toEqual(expected);
    await eventually(store, async () => ((await runsOf(side, attempt_id)).length === 2 ? true : null));
    await wait(side, attempt_id);
    expect(await runsOf(side, attempt_id)).toEqual([expect.stringContaining("!say one"), "!say two: completed"]);
  },
);
