import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { TaskManager } from "../../../src/claude/tasks/task-manager.ts";
import { listed, recorded, type Sample } from "../messages/sample-messages.ts";

const EDGES = ["task_started", "task_progress", "task_updated", "task_notification"];

/** The messages of each task, in order: the recorded streams taken apart. */
const streams: Sample[][] = [...recorded.entries()]
  .filter(([name]) => name !== "killed-then-resumed")
  .flatMap(([, messages]) => {
    const edges = messages.filter(({ subtype = "" }) => EDGES.includes(subtype));
    return [...Map.groupBy(edges, ({ task_id }) => task_id).values()];
  });

interface Seen {
  ends: string[];
  state: unknown[];
}

function run(messages: readonly Sample[]): Seen {
  const ends: string[] = [];
  const manager = new TaskManager({
    onTaskNotification: ({ taskId, runId, status, summary }) => ends.push([taskId, runId, status, summary].join(" ")),
  });
  for (const message of messages) manager.track(message);
  const state = manager
    .list()
    .map((task) => [task.id, task.runId, task.status(), task.summary(), task.usage(), task.isBackground, task.prompt]);
  manager.close();
  return { ends: ends.filter((end) => !end.includes(" lost ")).sort(), state: state.sort() };
}

/** Merges the streams in the order that the numbers give; each stream keeps its own order. */
function interleave(chosen: readonly Sample[][], choices: readonly number[]): Sample[] {
  const rest = chosen.map((stream) => [...stream]);
  const merged: Sample[] = [];
  for (let i = 0; rest.some((stream) => stream.length > 0); i++) {
    const open = rest.filter((stream) => stream.length > 0);
    const next = open[(choices[i % choices.length] ?? 0) % open.length]?.shift();
    if (next) merged.push(next);
  }
  return merged;
}

/** Adds the list of background tasks where the flags say so: before a start, or after the change. */
function withLists(messages: readonly Sample[], flags: readonly boolean[]): Sample[] {
  const live = new Map<string, [string, string]>();
  return messages.flatMap((message, i) => {
    const key = `${message.task_id} ${message.run_id}`;
    const isBackground = message.subtype === "task_started" && message.is_backgrounded === true;
    if (isBackground) live.set(key, [String(message.task_id), String(message.run_id)]);
    if (message.subtype === "task_notification") live.delete(key);
    if (!flags[i % flags.length]) return [message];
    const list = listed(...live.values());
    return isBackground ? [list, message] : [message, list];
  });
}

/** Repeats messages later in the stream: `[which, how much later]`. */
function withRepeats(messages: readonly Sample[], repeats: readonly [number, number][], renewed: boolean): Sample[] {
  const result = [...messages];
  for (const [which, later] of repeats) {
    const at = which % result.length;
    const again = result[at];
    if (!again) continue;
    // A list that is sent again with another uuid is not a repeat but a new list.
    const renew = renewed && again.subtype !== "background_tasks_changed" && typeof again.run_id === "string";
    result.splice(at + 1 + (later % (result.length - at)), 0, renew ? { ...again, uuid: `${again.uuid}+` } : again);
  }
  return result;
}

const choices = fc.array(fc.nat(20), { minLength: 1, maxLength: 60 });
const flags = fc.array(fc.boolean(), { minLength: 1, maxLength: 20 });
const repeats = fc.array(fc.tuple(fc.nat(200), fc.nat(200)), { maxLength: 30 });
const chosen = fc.uniqueArray(fc.nat(streams.length - 1), { minLength: 1 });

describe("the streams of several tasks", () => {
  test("are sufficient test data", () => {
    expect(streams.length).toBeGreaterThanOrEqual(8);
    expect(run(streams.flat()).ends.length).toBeGreaterThanOrEqual(8);
  });

  test("give the same outcomes in any order that keeps each task's own, with any lists and any repeats", () => {
    fc.assert(
      fc.property(chosen, choices, flags, repeats, fc.boolean(), (which, order, lists, again, renewed) => {
        const picked = which.map((i) => streams[i] ?? []);
        const expected = run(picked.flat());
        const stream = withRepeats(withLists(interleave(picked, order), lists), again, renewed);
        expect(run(stream)).toEqual(expected);
      }),
      { numRuns: 500 },
    );
  });

  test("give the same statuses when messages of a task overtake each other", () => {
    const whole = streams.filter((stream) => stream.some(({ subtype }) => subtype === "task_notification"));
    const statuses = (messages: readonly Sample[]) =>
      run(messages).state.map((state) => (state as unknown[]).slice(0, 4));
    fc.assert(
      fc.property(fc.shuffledSubarray(whole.flat(), { minLength: whole.flat().length }), (shuffled) => {
        expect(statuses(shuffled)).toEqual(statuses(whole.flat()));
      }),
      { numRuns: 300 },
    );
  });
});

describe("the streams of several sessions in one manager", () => {
  const sessions = [...recorded.entries()].filter(([name]) => !name.startsWith("killed")).map(([, stream]) => stream);
  const pair = fc.uniqueArray(fc.nat(sessions.length - 1), { minLength: 2, maxLength: 2 });
  const replays = fc.sample(fc.tuple(pair, choices, fc.double({ min: 0, max: 1, noNaN: true })), {
    numRuns: 300,
    seed: 7,
  });

  /** Replays both, with a pause long enough to give up a task that is missing in a list. */
  async function replay(messages: readonly Sample[], pauseAt: number): Promise<string[]> {
    const ends: string[] = [];
    const manager = new TaskManager({
      listWait: 5,
      onTaskNotification: ({ taskId, runId, status }) => ends.push([taskId, runId, status].join(" ")),
    });
    const cut = Math.floor(messages.length * pauseAt);
    for (const message of messages.slice(0, cut)) manager.track(message);
    await Bun.sleep(30);
    for (const message of messages.slice(cut)) manager.track(message);
    await Bun.sleep(30);
    return ends.sort();
  }

  test("do not affect each other: no task is reported lost", async () => {
    const alone = await Promise.all(sessions.map((stream) => replay(stream, 1)));
    const wrong = await Promise.all(
      replays.map(async ([which, order, pauseAt]) => {
        const picked = which.map((i) => sessions[i] ?? []);
        const ends = await replay(interleave(picked, order), pauseAt);
        const expected = which.flatMap((i) => alone[i] ?? []).sort();
        return JSON.stringify(ends) === JSON.stringify(expected) ? [] : [ends];
      }),
    );
    expect(alone.flat().length).toBeGreaterThan(6);
    expect(wrong.flat()).toEqual([]);
  });

  test("are told apart when the process of one ends", () => {
    const [one = [], other = []] = sessions.map((stream) => stream.filter(({ subtype }) => subtype === "task_started"));
    const manager = new TaskManager();
    for (const message of [...one, ...other]) manager.track(message);
    manager.processEnded("killed", String(one[0]?.session_id));
    const statuses = (stream: Sample[]) => stream.map(({ task_id }) => manager.get(String(task_id)).status());
    expect([...new Set(statuses(one)), ...new Set(statuses(other))]).toEqual(["lost", ""]);
    manager.close();
  });
});
