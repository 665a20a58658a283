/**
 * The part of the store suite about texts of the greatest length in indexed columns. They do not compress: PostgreSQL
 * compresses what it indexes, so that `"x".repeat()` fits where a real text does not. See `store-conformance.ts`, which
 * combines the parts.
 */
import { expect, test } from "bun:test";
import { createHash } from "node:crypto";
import type { Approval } from "../../../model/approval.ts";
import { MAX_NAME } from "../../../model/task.ts";
import { sampleAttempt, sampleItem, sampleProject, sampleRepo } from "../../sample-board.ts";
import { completed, create, resumed } from "../../sample-task.ts";
import type { StoreBed } from "./store-bed.ts";

const DESCRIPTION_CHARS = 500;
const PATH_BYTES = 4_096;

/** Three bytes for each unit of length, which is the most that UTF-8 needs. */
function longName(seed: string, chars = MAX_NAME): string {
  return characters(seed, chars, 0x4e00);
}

/** Four bytes for each character. */
function longPath(seed: string): string {
  return `/${characters(seed, PATH_BYTES / 4 - 1, 0x20000)}`;
}

function characters(seed: string, count: number, first: number): string {
  const bytes = (index: number) => createHash("sha256").update(`${seed} ${index}`).digest().readUInt16BE();
  return Array.from({ length: count }, (_, index) => String.fromCodePoint(first + (bytes(index) % 20_000))).join("");
}

export function longTextSuite(bed: StoreBed): void {
  test("a task with the longest names begins, is found by each of them, ends and continues", async () => {
    const store = await bed.fresh();
    const agent = longName("agent");
    const host = longName("host");
    const directory = longPath("directory");
    const description = longName("description", DESCRIPTION_CHARS);
    await create(store, "a", { agent, host, directory, description });
    expect((await store.apply("a", completed(2_000))).changed).toBe(true);
    for (const query of [{ agent }, { host }, { directory }, { agent, sort: "description" } as const]) {
      expect((await store.tasks(query)).tasks.map(({ id }) => id)).toEqual(["a"]);
    }
    expect((await store.tasks({ directory: directory.slice(0, -1) })).tasks).toEqual([]);
    const again = { ...resumed(3_000), agent: longName("another agent") };
    for (const event of [again, completed(4_000, 1)]) expect((await store.apply("a", event)).changed).toBe(true);
  });

  test("a queued task with the longest names can be cancelled", async () => {
    const store = await bed.fresh();
    const names = { agent: longName("agent"), host: longName("host"), directory: longPath("directory") };
    const description = longName("description", DESCRIPTION_CHARS);
    await create(store, "a", { ...names, description, sessionId: "", messageId: "", owner: null });
    const outcome = await store.apply("a", { type: "cancel.requested", at: 2_000, run: 0 });
    expect(outcome).toMatchObject({ changed: true, task: { status: "cancelled" } });
  });

  test("the longest paths are repositories, folders of attempts and approved directories, each found by its own", async () => {
    const { board } = await bed.fresh();
    const [path, folder, worktree, approved] = ["repository", "folder", "worktree", "approved"].map(longPath) as [
      string,
      string,
      string,
      string,
    ];
    await board.addProject(sampleProject("p", { name: longName("project", 100) }));
    expect(await board.addRepo(sampleRepo("r", { path, name: longName("repository", 100) }))).toBe(true);
    await board.addWorkItem(sampleItem("w"));
    await board.addAttempt(sampleAttempt("a"), [{ repoId: "r", targetBranch: "main" }]);
    await board.changeAttempt("a", { folder, paths: { r: worktree } }, 2);
    const asked: Approval = {
      id: "one",
      kind: "directory",
      subject: approved,
      directory: approved,
      script: null,
      state: "approved",
      askedBy: "a person",
      createdAt: 1,
      decidedAt: 1,
    };
    expect(await board.putApproval(asked)).toEqual(asked);
    expect(await board.putApproval({ ...asked, id: "two" })).toEqual(asked);
    expect((await board.repoAt(["/", path]))?.id).toBe("r");
    for (const place of [folder, worktree]) expect(await board.attemptAt(["/", place])).toBe("a");
    for (const known of [path, folder, approved]) expect(await board.hasKnownDirectory(["/", known])).toBe(true);
    for (const known of [path, folder, worktree, approved]) {
      const like = known.slice(0, -1);
      expect([await board.hasKnownDirectory([like]), await board.attemptAt([like])]).toEqual([false, null]);
    }
  });

  test("a subject is asked about once, however many ask at the same time", async () => {
    const stores = await bed.handles(3);
    const subject = longPath("asked");
    const ask = ({ board }: (typeof stores)[number], index: number) =>
      board.putApproval({
        id: `${index}`,
        kind: "directory",
        subject,
        directory: subject,
        script: null,
        state: "requested",
        askedBy: "a model",
        createdAt: index,
        decidedAt: null,
      });
    const ids = new Set((await Promise.all(stores.map(ask))).map(({ id }) => id));
    expect(ids.size).toBe(1);
    expect(await stores[0]?.board.requestedBy()).toEqual(["a model"]);
  });
}
