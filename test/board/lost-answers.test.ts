/** The store fails while an attempt is being set up, or does what it should and the answer is lost. */
import { expect, test } from "bun:test";
import { existsSync, readdirSync } from "node:fs";
import type { TaskEventType } from "../../src/model/events.ts";
import { eventually } from "../../src/testing/eventually.ts";
import { type Faults, faultyStore, nth } from "../store/faulty-store.ts";
import { boardBed, projectOn, runsOf, wait } from "./board-bed.ts";

const bed = boardBed();

async function faultyBoard() {
  const folder = bed.git.folder();
  const { store, faults } = await faultyStore(folder);
  const side = await bed.side(folder, { store, retryPause: 1 });
  const place = await projectOn(side, bed.git);
  const task = { project_id: place.project_id, title: "Try it", description: "Try it: !say ok" };
  const { task_id } = await side.call("create_task", task);
  const start = () => side.call("start_task_attempt", { task_id, executor: "SCRIPTED", repos: place.repos });
  return { side, store, faults, task_id, start, project_id: place.project_id };
}

type Board = Awaited<ReturnType<typeof faultyBoard>>;

/** Nothing looks as if it were being set up, and whatever is there has its worktree or none. */
async function settled({ side, store, task_id }: Board) {
  // Without waiting until it comes by itself.
  await side.runner.recover();
  return eventually(store, async () => {
    const { attempts } = await side.call("list_task_attempts", { task_id });
    const isOver = (await store.board.startingAttempts()).length === 0 && (await store.launches()).length === 0;
    return isOver && attempts.every(({ state }) => state !== "running") ? attempts : null;
  });
}

const WRITES = ["the audit log", "the attempt", "its worktrees", "the instance", "the launch", "the task"];
const cases = WRITES.flatMap((name, i) => [
  { name, number: i + 1, fate: "lost" as const },
  { name, number: i + 1, fate: "failed" as const },
]);

test.each(cases)("the write of $name is $fate: the attempt runs or is over, and can be repeated", async (given) => {
  const board = await faultyBoard();
  const { side, faults, start } = board;
  faults.write = nth(given.number, given.fate);
  const started = await start().catch((thrown: { code: string }) => thrown.code);
  const before = await settled(board);
  const folders = existsSync(side.worktrees) ? readdirSync(side.worktrees).filter((name) => !name.startsWith(".")) : [];
  if (typeof started === "string") {
    expect([started, folders]).toEqual(["store_unavailable", []]);
    expect(before.map(({ state }) => state).filter((state) => state !== "failed")).toEqual([]);
  } else {
    expect(before.map(({ state }) => state)).toEqual(["completed"]);
  }
  const { attempt_id } = await start();
  expect(await wait(side, attempt_id)).toMatchObject({ state: "completed" });
  expect(await runsOf(side, attempt_id)).toHaveLength(1);
});

test.each(["lost", "failed"] as const)("the write of its session is %s: the attempt gets it later", async (fate) => {
  const board = await faultyBoard();
  const { side, faults, start } = board;
  faults.write = afterFirst("task.created", fate);
  const started = await start().catch((thrown: { code: string }) => thrown.code);
  expect(started).toBe("store_unavailable");
  const [attempt, ...others] = await settled(board);
  expect([attempt?.state, others]).toEqual(["completed", []]);
  expect(await runsOf(side, attempt?.attempt_id ?? "")).toHaveLength(1);
});

test("an attempt whose write failed here and is committed later does not stay as if it were being set up", async () => {
  const board = await faultyBoard();
  const { side, store, faults, start, task_id } = board;
  // The first write is the entry of the audit log.
  faults.write = nth(2, "late");
  expect(await start().catch((thrown: { code: string }) => thrown.code)).toBe("store_unavailable");
  await eventually(store, async () => {
    const { attempts } = await side.call("list_task_attempts", { task_id });
    return attempts.some(({ state }) => state === "failed") ? true : null;
  });
});

test.each(["answered", "failing"] as const)(
  "a task whose creation lost its answer is created once, however often it is repeated, while reads are %s",
  async (reads) => {
    const { side, faults, project_id } = await faultyBoard();
    // The first writes are the entry of the audit log and the claim of the request_id.
    const third = nth(3, "lost");
    faults.write = (events) => {
      const fate = third(events);
      faults.areReadsFailing ||= fate === "lost" && reads === "failing";
      return fate;
    };
    const create = () =>
      side.call("create_task", { project_id, title: "Once", request_id: "one" }).then(
        () => "created",
        ({ code }) => code,
      );
    const first = await create();
    faults.areReadsFailing = false;
    const expected = reads === "failing" ? ["store_unavailable", "request_conflict"] : ["created", "created"];
    expect([first, await create()]).toEqual(expected);
    const { tasks } = await side.call("list_tasks", { project_id, search: "Once" });
    expect(tasks).toHaveLength(1);
  },
);

/** For the first write without an event after one with that event. */
function afterFirst(type: TaskEventType, fate: "lost" | "failed"): Faults["write"] {
  let stage: "before" | "after" | "done" = "before";
  return (events) => {
    if (stage === "after" && events.length === 0) {
      stage = "done";
      return fate;
    }
    if (stage === "before" && events.includes(type)) stage = "after";
    return "answered";
  };
}
