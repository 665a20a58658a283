/**
 * The part of the store suite about the board's records. See `store-conformance.ts`, which combines the parts.
 */
import { expect, test } from "bun:test";
import type { BoardPage } from "../../../store/board/records.ts";
import type { Store } from "../../../store/store.ts";
import { fillBoard, sampleAttempt, sampleItem, sampleProject, sampleRepo, sampleSession } from "../../sample-board.ts";
import { completed, create, resumed } from "../../sample-task.ts";
import type { StoreBed } from "./store-bed.ts";

const ALL: BoardPage = { limit: 201, after: null };

/** All entries, read in pages of that length. */
async function paged<Row extends { createdAt: number; id: string }>(
  read: (page: BoardPage) => Promise<Row[]>,
  limit: number,
): Promise<string[]> {
  const ids: string[] = [];
  for (let after: Row | null = null; ; ) {
    const page: Row[] = await read({ limit, after });
    ids.push(...page.map(({ id }) => id));
    after = page.at(-1) ?? null;
    if (page.length < limit) return ids;
  }
}

export function boardListSuite(bed: StoreBed): void {
  test("projects and repos: oldest first, unique names", async () => {
    const { board } = await bed.fresh();
    for (const [id, at] of [
      ["b", 2],
      ["c", 1],
      ["a", 2],
      ["B", 2],
    ] as const) {
      expect(await board.addProject(sampleProject(id, { createdAt: at }))).toBe(true);
    }
    expect(await board.addProject(sampleProject("d", { name: "Project a" }))).toBe(false);
    for (const limit of [1, 2, 5])
      expect(await paged((page) => board.projects(page), limit)).toEqual(["c", "B", "a", "b"]);
    expect(await board.project("a")).toEqual(sampleProject("a", { createdAt: 2 }));
    expect(await board.project("d")).toBeNull();
    const repo = sampleRepo("r1", { projectId: "a", copy: [".env", "a\0b".replace("\0", "")], setup: "echo 'ä'" });
    expect(await board.addRepo(repo)).toBe(true);
    expect(await board.addRepo(sampleRepo("r2", { projectId: "a", name: repo.name }))).toBe(false);
    expect(
      await board.addRepo(sampleRepo("r2", { projectId: "b", name: repo.name, path: repo.path, createdAt: 2 })),
    ).toBe(true);
    expect(await board.reposOf("a", ALL)).toEqual([repo]);
    expect(await board.repos(["r1", "nobody"])).toEqual([repo]);
    expect(await board.repos([])).toEqual([]);
    expect((await board.repoAt(["/", repo.path]))?.id).toBe("r1");
    expect(await board.repoAt(["/nowhere"])).toBeNull();
    expect(await board.repoAt([])).toBeNull();
    expect(await board.removeProject("a")).toBe(true);
    expect([await board.project("a"), await board.repos(["r1"])]).toEqual([null, []]);
  });

  test("a repo can be changed partially, and removed once no attempt uses it", async () => {
    const store = await bed.fresh();
    await fillBoard(store);
    const { board } = store;
    await board.addRepo(sampleRepo("other", { name: "Other", setup: "make" }));
    expect(await board.changeRepo("other", { name: "Third", copy: [".env"] })).toBe("done");
    expect(await board.repos(["other"])).toMatchObject([{ name: "Third", copy: [".env"], setup: "make" }]);
    expect(await board.changeRepo("other", { setup: null })).toBe("done");
    expect(await board.repos(["other"])).toMatchObject([{ name: "Third", copy: [".env"], setup: null }]);
    const [used] = await board.repos(["r"]);
    expect(await board.changeRepo("other", { name: used?.name ?? "" })).toBe("taken");
    expect(await board.changeRepo("nobody", { setup: null })).toBe("gone");
    expect(await board.removeRepo("r")).toBe("used");
    expect([await board.removeRepo("other"), await board.removeRepo("other")]).toEqual(["done", "gone"]);
  });

  test("all attempts: newest first across all work items, or of one project, in pages", async () => {
    const store = await bed.fresh();
    const { board } = store;
    for (const id of ["p", "q"]) await board.addProject(sampleProject(id));
    for (const [id, projectId] of Object.entries({ w: "p", v: "p", u: "q" })) {
      await board.addWorkItem(sampleItem(id, { projectId, title: `Item ${id}` }));
    }
    const places = { b: ["w", 2], a: ["u", 2], d: ["v", 3], c: ["w", 1] } as const;
    for (const [id, [workItemId, createdAt]] of Object.entries(places)) {
      await board.addAttempt(sampleAttempt(id, { workItemId, createdAt }), []);
    }
    for (const limit of [1, 2, 9]) {
      expect(await paged((page) => board.allAttempts(null, page), limit)).toEqual(["d", "a", "b", "c"]);
      expect(await paged((page) => board.allAttempts("p", page), limit)).toEqual(["d", "b", "c"]);
    }
    await create(store, "t", { batchId: "a" });
    await board.addSession(sampleSession("s", { attemptId: "a", taskId: "t" }));
    await board.queueFollowUp({ id: "f", sessionId: "s", prompt: "x", variant: null, queuedAt: 1 });
    const [, listed] = await board.allAttempts(null, ALL);
    expect(listed).toMatchObject({ id: "a", projectId: "q", title: "Item u", queuedCount: 1, taskStatus: "running" });
  });

  test("work items: newest first, ties by the smaller id, filtered by status, in pages", async () => {
    const { board } = await bed.fresh();
    await board.addProject(sampleProject("p"));
    expect(await board.addWorkItem(sampleItem("x", { projectId: "nobody" }))).toBe(false);
    const times = { e: 1, d: 3, b: 3, B: 3, a: 2, c: 3 };
    for (const [id, createdAt] of Object.entries(times)) {
      await board.addWorkItem(
        sampleItem(id, { createdAt, description: "long", ...(id === "c" && { status: "done" }) }),
      );
    }
    const order = ["B", "b", "c", "d", "a", "e"];
    for (const limit of [1, 2, 3, 10]) {
      expect(await paged((page) => board.workItems("p", { status: null, search: "" }, page), limit)).toEqual(order);
      expect(await paged((page) => board.workItems("p", { status: "todo", search: "" }, page), limit)).toEqual(
        order.filter((id) => id !== "c"),
      );
    }
    expect(await board.changeWorkItem("a", { title: "New", status: "cancelled" }, 9)).toBe(true);
    expect(await board.changeWorkItem("nobody", { title: "New" }, 9)).toBe(false);
    expect(await board.workItem("a")).toMatchObject({
      title: "New",
      description: "long",
      status: "cancelled",
      createdAt: 2,
      updatedAt: 9,
      latestAttemptId: null,
      latestBranch: null,
      latestSessionId: null,
      latestHost: null,
      inProgress: false,
      lastFailed: false,
    });
    expect(await board.removeProject("p")).toBe(false);
    for (const id of order) await board.removeWorkItem(id);
    expect(await board.removeProject("p")).toBe(true);
  });

  test("work items are found by words in the title and the description, in any order", async () => {
    const { board } = await bed.fresh();
    await board.addProject(sampleProject("p"));
    await board.addWorkItem(sampleItem("a", { title: "Fix the 100% Ärger", description: "in the cart_page" }));
    await board.addWorkItem(sampleItem("b", { title: "Write docs", description: null }));
    const found = async (search: string) =>
      (await board.workItems("p", { status: null, search }, ALL)).map(({ id }) => id);
    for (const search of ["CART fix", "100%", "Ärger", "t_p"])
      expect([search, await found(search)]).toEqual([search, ["a"]]);
    for (const search of ["cart docs", "1%0", "tXp"]) expect([search, await found(search)]).toEqual([search, []]);
    expect(await found("docs WRITE")).toEqual(["b"]);
    expect((await found(" ")).length).toBe(2);
  });

  test("attempts and sessions: the newest is the latest, ties by the smaller id, in lists and in summaries", async () => {
    const { board } = await bed.fresh();
    await board.addProject(sampleProject("p"));
    await board.addWorkItem(sampleItem("w"));
    for (const [id, createdAt] of [
      ["b", 2],
      ["a", 2],
      ["c", 1],
    ] as const) {
      expect(await board.addAttempt(sampleAttempt(id, { createdAt }), [])).toBe(true);
    }
    expect(await board.addAttempt(sampleAttempt("x", { workItemId: "nobody" }), [])).toBe(false);
    for (const limit of [1, 2, 9])
      expect(await paged((page) => board.attempts("w", page), limit)).toEqual(["a", "b", "c"]);
    expect(await board.workItem("w")).toMatchObject({
      latestAttemptId: "a",
      latestBranch: "branch-a",
      inProgress: true,
    });
    expect((await board.startingAttempts()).map(({ id }) => id)).toEqual(["c", "a", "b"]);
    for (const [id, createdAt] of [
      ["s2", 5],
      ["s1", 5],
      ["s3", 4],
    ] as const) {
      await board.addSession(sampleSession(id, { createdAt }));
    }
    // A task has one session, and a session needs an attempt.
    await board.addSession(sampleSession("s4", { taskId: "task-s1", createdAt: 9 }));
    await board.addSession(sampleSession("s5", { attemptId: "nobody", createdAt: 9 }));
    expect((await board.startingAttempts()).map(({ id }) => id)).toEqual(["c", "b"]);
    expect(await board.attempt("a")).toMatchObject({
      state: "ready",
      latestSession: sampleSession("s1", { createdAt: 5 }),
    });
    expect(await board.workItem("w")).toMatchObject({ latestSessionId: "s1", latestHost: "scripted" });
    expect(await board.sessionOfTask("task-s2")).toEqual(sampleSession("s2", { createdAt: 5 }));
    expect([await board.session("s4"), await board.session("s5"), await board.sessionOfTask("x")]).toEqual([
      null,
      null,
      null,
    ]);
  });

  test("an attempt is found by the first matching path, of a worktree or of the folder above it", async () => {
    const store = await bed.fresh();
    await fillBoard(store);
    const { board } = store;
    await board.changeAttempt("a", { folder: "/base/x", paths: { r: "/base/x/repo" } }, 7);
    expect(await board.attempt("a")).toMatchObject({
      folder: "/base/x",
      updatedAt: 7,
      item: { id: "w", title: "Item w" },
      taskStatus: null,
      repos: [
        { attemptId: "a", repoId: "r", targetBranch: "main", path: "/base/x/repo", name: "repo r", repoPath: "/r" },
      ],
    });
    await board.addAttempt(sampleAttempt("b"), []);
    await board.changeAttempt("b", { folder: "/base/x/repo/inner" }, 7);
    expect(await board.attemptAt(["/base/x/repo", "/base/x", "/base"])).toBe("a");
    expect(await board.attemptAt(["/base/x/repo/inner", "/base/x/repo"])).toBe("b");
    expect(await board.attemptAt(["/base/x"])).toBe("a");
    expect([await board.attemptAt(["/base", "/"]), await board.attemptAt([])]).toEqual([null, null]);
    await board.changeAttempt("a", { folder: null, paths: null, state: "failed", error: "no" }, 8);
    expect(await board.attemptAt(["/base/x/repo", "/base/x"])).toBeNull();
    expect(await board.workItem("w")).toMatchObject({ latestAttemptId: "a", lastFailed: true });
  });
}

export function boardFlowSuite(bed: StoreBed): void {
  const statusOf = async (store: Store) => (await store.board.workItem("w"))?.status;

  test("its version increases with every change of the board, tasks included, and with nothing else", async () => {
    const store = await bed.fresh();
    const { board } = store;
    expect(await board.version()).toBe(0);
    await fillBoard(store);
    const filled = await board.version();
    expect(filled).toBeGreaterThan(0);
    await board.project("p");
    await create(store, "elsewhere");
    expect(await board.version()).toBe(filled);
    await board.changeWorkItem("w", { title: "another" }, 5);
    expect(await board.version()).toBe(filled + 1);
    await create(store, "t", { batchId: "a" });
    expect(await board.version()).toBe(filled + 2);
    await store.apply("t", completed(9));
    expect(await board.version()).toBe(filled + 3);
  });

  test("a work item follows the tasks of its attempts, in their transactions", async () => {
    const store = await bed.fresh();
    await fillBoard(store);
    await store.board.addAttempt(sampleAttempt("b"), []);
    await create(store, "other");
    expect(await statusOf(store)).toBe("todo");
    await create(store, "t1", { batchId: "a" }, 10);
    expect(await store.board.workItem("w")).toMatchObject({ status: "inprogress", updatedAt: 10, inProgress: true });
    expect((await store.board.attempt("a"))?.updatedAt).toBe(10);
    await create(store, "t2", { batchId: "b" }, 11);
    await store.apply("t1", completed(12));
    expect(await store.board.workItem("w")).toMatchObject({ status: "inprogress", updatedAt: 12 });
    await store.apply("t2", { type: "run.failed", at: 13, run: 0, error: "no", progress: null });
    expect(await statusOf(store)).toBe("inreview");
    await store.board.changeWorkItem("w", { status: "cancelled" }, 14);
    await store.apply("t1", resumed(15));
    expect(await statusOf(store)).toBe("inprogress");
    await store.board.changeWorkItem("w", { status: "done" }, 16);
    await store.apply("t1", completed(17, 1));
    expect(await store.board.workItem("w")).toMatchObject({ status: "done", updatedAt: 17 });
    // A rollback reverts the work item too.
    const broken = store.write(async (transaction) => {
      await transaction.apply("t1", resumed(18));
      throw new Error("enough");
    });
    await expect(broken).rejects.toThrow("enough");
    expect(await statusOf(store)).toBe("done");
  });

  test("a merge is written together with its commits and the finished work item", async () => {
    const store = await bed.fresh();
    await fillBoard(store);
    const { board } = store;
    await board.changeAttempt("a", { state: "failed", error: "no" }, 7);
    expect((await board.attempt("a"))?.repos).toMatchObject([{ repoId: "r", mergedCommit: null }]);
    const before = await board.version();
    await board.mergeAttempt("a", { r: "abc", elsewhere: "def" }, 8);
    expect(await board.attempt("a")).toMatchObject({
      state: "merged",
      error: null,
      updatedAt: 8,
      item: { status: "done", updatedAt: 8 },
      repos: [{ repoId: "r", mergedCommit: "abc" }],
    });
    expect(await board.version()).toBe(before + 1);
    await board.mergeAttempt("gone", { r: "abc" }, 9);
    expect((await board.workItem("w"))?.updatedAt).toBe(8);
  });

  test("every state of its newest run shows whether an attempt is working or has failed", async () => {
    const store = await bed.fresh();
    await fillBoard(store);
    await create(store, "t", { batchId: "a" }, 10);
    await store.board.addSession(sampleSession("s", { taskId: "t" }));
    const shows = async () => {
      const item = await store.board.workItem("w");
      return [item?.inProgress, item?.lastFailed, (await store.board.attempt("a"))?.taskStatus];
    };
    expect(await shows()).toEqual([true, false, "running"]);
    await store.apply("t", { type: "run.failed", at: 11, run: 0, error: "no", progress: null });
    expect(await shows()).toEqual([false, true, "error"]);
    await store.apply("t", { ...resumed(12), allow: ["error"] });
    expect(await shows()).toEqual([true, false, "resumed"]);
    await store.apply("t", { type: "run.cancelled", at: 13, run: 1, reason: "enough", progress: null });
    expect(await shows()).toEqual([false, true, "cancelled"]);
    await store.apply("t", { ...resumed(14), allow: ["cancelled"] });
    await store.apply("t", completed(15, 2));
    expect(await shows()).toEqual([false, false, "completed"]);
    // An attempt that was merged and is worked on again no longer counts as merged.
    await store.board.mergeAttempt("a", {}, 16);
    await store.apply("t", resumed(17));
    expect((await store.board.attempt("a"))?.state).toBe("ready");
  });

  test("follow-ups: first in, first out, each claimed once, with the run that had ended when it was queued", async () => {
    const stores = await bed.handles(2);
    const [store] = stores as [Store];
    await fillBoard(store);
    const { board } = store;
    await create(store, "t", { batchId: "a" });
    await board.addSession(sampleSession("s", { taskId: "t" }));
    const add = (id: string, sessionId = "s") =>
      board.queueFollowUp({ id, sessionId, prompt: `do ${id}`, variant: null, queuedAt: 1 });
    expect(await board.queue("s")).toEqual({ head: null, count: 0, afterRun: null });
    for (const id of ["z", "a", "m"]) await add(id);
    const head = { id: "z", sessionId: "s", prompt: "do z", variant: null, queuedAt: 1, afterRun: null, error: null };
    expect(await board.queue("s")).toEqual({ head, count: 3, afterRun: null });
    await board.refuseFollowUp("s", "z", "no such agent");
    expect((await board.queue("s")).head?.error).toBe("no such agent");
    await store.apply("t", completed(2));
    await add("n");
    expect(await board.queue("s")).toMatchObject({ head: { id: "z", error: null }, count: 4, afterRun: 0 });
    const takes = stores.flatMap((each) =>
      [1, 2].map(() => each.write((transaction) => transaction.dequeueFollowUp("z"))),
    );
    expect((await Promise.all(takes)).filter((taken) => taken)).toHaveLength(1);
    const broken = store.write(async (transaction) => {
      expect(await transaction.dequeueFollowUp("a")).toBe(true);
      throw new Error("enough");
    });
    await expect(broken).rejects.toThrow("enough");
    expect((await board.queue("s")).head?.id).toBe("a");
    expect((await board.followUps("s", 2)).map(({ prompt }) => prompt)).toEqual(["do a", "do m"]);
    await add("x", "elsewhere");
    expect((await board.queuedSessions()).sort()).toEqual(["elsewhere", "s"]);
    expect(await board.cancelFollowUps("s")).toBe(3);
    expect(await board.queuedSessions()).toEqual(["elsewhere"]);
  });

  test("a refused event rolls back its whole transaction, including earlier writes", async () => {
    const store = await bed.fresh();
    await fillBoard(store);
    const { board } = store;
    await create(store, "t", { batchId: "a" });
    await board.addSession(sampleSession("s", { taskId: "t" }));
    await board.queueFollowUp({ id: "f", sessionId: "s", prompt: "x", variant: null, queuedAt: 1 });
    const before = [await store.lastSeq(), await board.version()];
    const refused = await store.write(async (transaction) => {
      expect(await transaction.dequeueFollowUp("f")).toBe(true);
      const applied = await transaction.apply("t", resumed(9));
      await transaction.closeLaunch("never reached");
      return applied;
    });
    expect(refused).toMatchObject({ changed: false, reason: "live", task: { id: "t", status: "running" } });
    expect((await board.queue("s")).head?.id).toBe("f");
    expect([await store.lastSeq(), await board.version()]).toEqual(before);
    const repos = ["x", "y"].map((id) => sampleRepo(id, { projectId: "q", name: "same" }));
    expect(await board.addProject(sampleProject("q"), repos)).toBe(false);
    expect([await board.project("q"), await board.repos(["x", "y"])]).toEqual([null, []]);
    expect(await board.addProject(sampleProject("q"), repos.slice(1))).toBe(true);
    expect((await board.reposOf("q", ALL)).map(({ id }) => id)).toEqual(["y"]);
  });

  test("removing a record removes its dependents, and nothing else", async () => {
    const store = await bed.fresh();
    await fillBoard(store);
    const { board } = store;
    await create(store, "t", { batchId: "a" });
    await board.addSession(sampleSession("s", { taskId: "t" }));
    await board.queueFollowUp({ id: "f", sessionId: "s", prompt: "x", variant: "v", queuedAt: 1 });
    await board.addAttempt(sampleAttempt("b"), []);
    await board.removeAttempt("b");
    expect((await board.attempts("w", ALL)).map(({ id }) => id)).toEqual(["a"]);
    await board.removeWorkItem("w");
    expect([await board.workItem("w"), await board.attempt("a"), await board.session("s")]).toEqual([null, null, null]);
    expect(await board.queuedSessions()).toEqual([]);
    expect((await board.repos(["r"])).length).toBe(1);
    // The task is history, and may end without its attempt.
    expect((await store.apply("t", completed(3))).changed).toBe(true);
  });

  test("a request is claimed once, by the first caller, and found with its response", async () => {
    const stores = await bed.handles(2);
    const [{ board }] = stores as [Store];
    const claims = stores.map((each) => each.board.claimRequest("op", "r", "hash", 5));
    const found = { inputHash: "hash", answer: null };
    expect((await Promise.all(claims)).sort((one) => (one === null ? -1 : 1))).toEqual([null, found]);
    expect(await board.claimRequest("other", "r", "hash", 5)).toBeNull();
    await board.answerRequest("op", "r", '{"ok":true}');
    expect(await board.claimRequest("op", "r", "else", 6)).toEqual({ inputHash: "hash", answer: '{"ok":true}' });
    await board.dropRequest("op", "r");
    expect(await board.claimRequest("op", "r", "else", 6)).toBeNull();
    await board.pruneRequests(6);
    expect(await board.claimRequest("op", "r", "third", 7)).toMatchObject({ inputHash: "else" });
    expect(await board.claimRequest("other", "r", "third", 7)).toBeNull();
  });

  test("a task that switches agents counts for the new agent, and its earlier work for the first one", async () => {
    const store = await bed.fresh();
    await create(store, "t", { agent: "build" });
    await store.apply("t", completed(1_400));
    await store.apply("t", { ...resumed(2_000), agent: "plan" });
    expect((await store.task("t"))?.agent).toBe("plan");
    expect((await store.tasks({ agent: "plan" })).tasks).toHaveLength(1);
    await store.apply("t", completed(2_100, 1));
    const totals = await store.agentTotals();
    expect(
      totals.map(({ agent, byStatus, endedRuns, durationSum }) => [agent, byStatus.completed, endedRuns, durationSum]),
    ).toEqual([
      ["build", 0, 1, 400],
      ["plan", 1, 1, 100],
    ]);
    expect(totals.flatMap(({ byStatus }) => Object.values(byStatus)).filter((count) => count < 0)).toEqual([]);
  });
}
