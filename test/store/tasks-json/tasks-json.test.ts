import { describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, statSync, watch } from "node:fs";
import { join } from "node:path";
import { noProgress } from "../../../src/model/progress.ts";
import { sqliteStore } from "../../../src/store/open.ts";
import type { entryOf } from "../../../src/store/tasks-json/entries.ts";
import { completed, create, newTask } from "../../../src/testing/sample-task.ts";
import { children } from "../child.ts";
import { temporaryFolders } from "../temporary-folder.ts";

const temporaryFolder = temporaryFolders();
const startChild = children();

type TasksJson = Record<string, ReturnType<typeof entryOf>>;

const MOST = 5_000;

const at = (time: number) => new Date(time).toISOString();

function mirrorIn(directory: string): TasksJson {
  return JSON.parse(readFileSync(join(directory, "tasks.json"), "utf8"));
}

/** Resolves with the mirror once it is as wanted, checked whenever something changes in the folder. */
function mirrored(directory: string, wanted: (tasks: TasksJson) => boolean): Promise<TasksJson> {
  return new Promise((resolve) => {
    const look = () => {
      if (!existsSync(join(directory, "tasks.json"))) return;
      const tasks = mirrorIn(directory);
      if (!wanted(tasks)) return;
      watcher.close();
      resolve(tasks);
    };
    const watcher = watch(directory, look);
    look();
  });
}

describe("the mirror", () => {
  test("maps each session to its task in the documented format, without prompts and results [PD-02]", async () => {
    const directory = temporaryFolder();
    const store = await sqliteStore({ directory });
    await create(store, "ses_a", { description: "Research", agent: "explore", parentSessionId: "ses_p" }, 1_000);
    await store.apply("ses_a", completed(2_000, 0, "a secret result"));
    await store.apply("ses_a", {
      type: "task.resumed",
      at: 3_000,
      prompt: "x",
      messageId: "m",
      owner: null,
      allow: [],
    });
    await store.apply("ses_a", { type: "run.failed", at: 4_000, run: 1, error: "broke", progress: null });
    await create(store, "other", { sessionId: "ses_b", model: "provider/model" }, 1_500);
    await store.close();
    const common = { isForked: false, parentMessageID: "message", parentAgent: "build", directory: "/repo" };
    expect(mirrorIn(directory)).toEqual({
      ses_a: {
        description: "Research",
        agent: "explore",
        parentSessionID: "ses_p",
        createdAt: "1970-01-01T00:00:01.000Z",
        status: "error",
        resumeCount: 1,
        completedAt: "1970-01-01T00:00:04.000Z",
        error: "broke",
        batchId: "batch",
        host: "scripted",
        progress: { ...noProgress(1_000), lastUpdate: 3_000 },
        ...common,
      },
      ses_b: {
        id: "other",
        description: "Task other",
        agent: "explore",
        parentSessionID: "parent",
        createdAt: "1970-01-01T00:00:01.500Z",
        status: "running",
        resumeCount: 0,
        batchId: "batch",
        host: "scripted",
        model: "provider/model",
        progress: noProgress(1_500),
        ...common,
      },
    });
    expect(statSync(join(directory, "tasks.json")).mode & 0o777).toBe(0o600);
  });

  test("follows changes by itself, and holds the newest of very many", async () => {
    const directory = temporaryFolder();
    const store = await sqliteStore({ directory });
    await store.write(async (transaction) => {
      for (let index = 0; index < MOST + 3; index++) {
        await transaction.apply(`t${index}`, { type: "task.created", at: index, task: newTask(`t${index}`) });
      }
    });
    const first = await mirrored(directory, (tasks) => Object.keys(tasks).length > 0);
    expect(Object.keys(first)).toEqual(Array.from({ length: MOST }, (_, index) => `t${index + 3}`));
    await store.apply("t9", completed(9_999));
    const second = await mirrored(directory, (tasks) => tasks.t9?.status === "completed");
    expect(second.t9?.completedAt).toBe(at(9_999));
    await store.close();
  }, 60_000);

  test("the last changes of two processes both reach the file", async () => {
    const directory = temporaryFolder();
    const children = ["a", "b"].map((name) => startChild("write", directory, name));
    const [store] = await Promise.all([sqliteStore({ directory }), ...children.map((child) => child.exited)]);
    const ids = Object.keys(mirrorIn(directory));
    expect(ids).toContain("a-124");
    expect(ids).toContain("b-124");
    expect(ids.length).toBe(250);
    await store.close();
  }, 60_000);

  test("a writer killed at any moment leaves the old or the new file, complete [PD-06]", async () => {
    const directory = temporaryFolder();
    const seen: number[] = [];
    const look = () => {
      if (!existsSync(join(directory, "tasks.json"))) return;
      const entries = Object.values(mirrorIn(directory));
      const rounds = new Set(entries.map((entry) => entry.progress?.toolCalls));
      expect([entries.length, rounds.size]).toEqual([300, 1]);
      seen.push([...rounds][0] ?? -1);
    };
    for (let kill = 0; kill < 12; kill++) {
      const child = startChild("mirror", directory, "m");
      await child.said();
      // Kills at the n-th change of a file, which is mostly in the middle of a write.
      await happenings(directory, 1 + Math.floor(Math.random() * 12), look);
      await child.kill();
      look();
    }
    expect(seen).toEqual([...seen].sort((a, b) => a - b));
    expect(new Set(seen).size).toBeGreaterThan(5);

    const store = await sqliteStore({ directory });
    await store.apply("m-0", completed(1));
    await store.close();
    expect(mirrorIn(directory)["m-0"]?.status).toBe("completed");
    expect(readdirSync(directory).filter((name) => name.endsWith(".tmp"))).toEqual([]);
  }, 120_000);

  test("what a killed process had not written is written by the next one that opens the store", async () => {
    const directory = temporaryFolder();
    await startChild("die", directory, "a").exited;
    expect(existsSync(join(directory, "tasks.json"))).toBe(false);
    const store = await sqliteStore({ directory });
    expect(Object.keys(await mirrored(directory, () => true))).toEqual(["a"]);
    await store.close();
  });
});

function happenings(directory: string, count: number, each: () => void): Promise<void> {
  return new Promise((resolve, reject) => {
    let left = count;
    const watcher = watch(directory, (_event, name) => {
      if (!name?.startsWith("tasks.json")) return;
      try {
        each();
      } catch (thrown) {
        watcher.close();
        reject(thrown);
      }
      left--;
      if (left > 0) return;
      watcher.close();
      resolve();
    });
  });
}
