/** What is removed of the clones and of the cache, and what stays. */
import { describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, rmSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { mirrorFolder } from "../../src/worktree/clones/mirror.ts";
import { makeTaskClone } from "../../src/worktree/clones/task-clone.ts";
import { tidyClones } from "../../src/worktree/clones/tidy.ts";
import { marksIn } from "../../src/worktree/mark.ts";
import { withRepositoryLock } from "../../src/worktree/repository-lock.ts";
import { ALONE } from "../../src/worktree/tidying.ts";
import { published, request } from "./clone-bed.ts";
import { commit, gitBed, lockBranch, sh, write } from "./git-bed.ts";

const bed = gitBed();
const DAY = 86_400_000;

/** A repository of the cache that nobody used for 40 days, and a commit that it does not have yet. */
async function unusedMirror() {
  const { repo, remote, commit: first } = published(bed);
  const base = join(bed.folder(), "clones");
  const mirror = mirrorFolder(join(base, "repositories"), remote);
  const { directory } = await makeTaskClone(request(base, { remote, commit: first }));
  expect(await tidyClones({ base, now: Date.now() + 8 * DAY, ...ALONE, isInUse: async () => false })).toEqual([
    directory,
  ]);
  const used = new Date(Date.now() - 40 * DAY);
  utimesSync(join(mirror, "remote"), used, used);
  write(repo, "new.txt", "x");
  const newer = commit(repo, "new");
  sh(repo, "push", "--quiet", "origin", "main");
  const tidy = () => tidyClones({ base, now: Date.now(), ...ALONE, isInUse: async () => true });
  return { base, mirror, tidy, wanted: request(base, { remote, commit: newer, id: "tsk_2-0" }) };
}

describe("an unused repository of the cache", () => {
  test("stays if a task began to fetch it before the tidying", async () => {
    const { mirror, tidy, wanted } = await unusedMirror();
    const fetching = Promise.withResolvers<Promise<string[]>>();
    const report = (line: string) => {
      if (line.startsWith("fetching")) fetching.resolve(tidy());
    };
    const { directory } = await makeTaskClone({ ...wanted, report });
    expect(await await fetching.promise).toEqual([]);
    expect(existsSync(mirror)).toBe(true);
    expect(existsSync(join(directory, "new.txt"))).toBe(true);
  });

  test("is fetched anew by a task that waited for it while it was removed", async () => {
    const { mirror, wanted } = await unusedMirror();
    const waiting = Promise.withResolvers<void>();
    const removing = withRepositoryLock(mirror, async () => {
      await waiting.promise;
      rmSync(mirror, { recursive: true });
    });
    const making = makeTaskClone(wanted);
    setImmediate(() => waiting.resolve());
    await removing;
    expect(existsSync(join((await making).directory, "new.txt"))).toBe(true);
  });
});

describe("clones that nobody needs", () => {
  test("are removed after a week, but never with work that is nowhere else, nor while they are used", async () => {
    const { remote, commit: tip } = published(bed);
    const base = join(bed.folder(), "clones");
    const folders: Record<string, string> = {};
    for (const id of ["clean", "pushed", "dirty", "unpushed", "detached", "used"]) {
      folders[id] = (await makeTaskClone(request(base, { remote, commit: tip, id }))).directory;
    }
    const at = (id: string) => folders[id] ?? "";
    for (const id of ["pushed", "unpushed", "detached"]) {
      if (id === "detached") sh(at(id), "checkout", "--quiet", "--detach");
      write(at(id), "b.txt", id);
      commit(at(id), id);
    }
    sh(at("pushed"), "push", "--quiet", "origin", "HEAD:refs/heads/pushed");
    write(at("dirty"), "b.txt", "x");
    const released: string[] = [];
    const tidy = (now: number) =>
      tidyClones({
        base,
        now,
        ...ALONE,
        isInUse: async (id) => id === "used",
        removing: (path, work) => work(async () => void released.push(path)),
      });
    expect(await tidy(Date.now() + 6 * DAY)).toEqual([]);
    const removed = await tidy(Date.now() + 8 * DAY);
    expect(removed.toSorted()).toEqual([at("clean"), at("pushed")].toSorted());
    expect(released.toSorted()).toEqual(removed.toSorted());
    const left = ["dirty", "unpushed", "detached", "used"];
    expect(Object.keys(folders).filter((id) => existsSync(at(id)))).toEqual(left);
    // The repository stays as long as one of its folders does.
    expect(await tidy(Date.now() + 90 * DAY)).toEqual([]);
    for (const id of left) {
      sh(at(id), "reset", "--quiet", "--hard", tip);
      sh(at(id), "clean", "--quiet", "-fd");
      sh(at(id), "reflog", "expire", "--expire=now", "--all");
    }
    rmSync(at("used"), { recursive: true });
    expect(await tidy(Date.now() + 90 * DAY)).toHaveLength(3);
    const [folder = ""] = readdirSync(join(base, "repositories"));
    const all = await tidyClones({ base, now: Date.now() + 90 * DAY, ...ALONE, isInUse: async () => false });
    expect(all).toEqual([at("used"), join(base, "repositories", folder)]);
    expect(readdirSync(join(base, "repositories"))).toEqual([]);
  });

  test("the newest 50 stay for a week, and older ones go after an hour", async () => {
    const { remote, commit: tip } = published(bed);
    const base = join(bed.folder(), "clones");
    for (let index = 0; index < 52; index++) {
      await makeTaskClone(request(base, { remote, commit: tip, id: `t${index}` }));
    }
    const tidy = (now: number) => tidyClones({ base, now, ...ALONE, isInUse: async () => false });
    expect(await tidy(Date.now())).toEqual([]);
    expect(await tidy(Date.now() + 2 * 3_600_000)).toHaveLength(2);
    expect(await tidy(Date.now() + 2 * 3_600_000)).toEqual([]);
  }, 60_000);

  test("one that cannot be removed is reported, and does not keep the others", async () => {
    const { remote, commit: tip } = published(bed);
    const base = join(bed.folder(), "clones");
    for (const id of ["a", "b", "c"]) await makeTaskClone(request(base, { remote, commit: tip, id }));
    const places = marksIn(join(base, "tasks")).toSorted((one, other) =>
      other.mark.createdAt.localeCompare(one.mark.createdAt),
    );
    // It is looked at first.
    const [newest, ...others] = places;
    if (newest) lockBranch(newest.mark);
    const failures: string[] = [];
    const now = Date.now() + 8 * DAY;
    const onFailure = (path: string) => void failures.push(path);
    const removed = await tidyClones({ base, now, ...ALONE, isInUse: async () => false, onFailure });
    expect(removed).toEqual(others.map(({ path }) => path));
    expect(failures).toEqual([newest?.path ?? ""]);
  });

  test("the newest 20 unused repositories stay for a month", async () => {
    const base = join(bed.folder(), "clones");
    for (let index = 0; index < 22; index++) {
      const folder = join(base, "repositories", `r${index}`);
      mkdirSync(folder, { recursive: true });
      write(folder, "remote", "x\n");
      const used = new Date(Date.now() - index * 3_600_000 - 1_800_000);
      utimesSync(join(folder, "remote"), used, used);
    }
    const removed = await tidyClones({ base, now: Date.now(), ...ALONE, isInUse: async () => false });
    expect(removed.map((path) => path.slice(path.lastIndexOf("/") + 1))).toEqual(["r20", "r21"]);
    // What a fetch that failed has left.
    rmSync(join(base, "repositories", "r1", "remote"));
    const later = await tidyClones({ base, now: Date.now() + 20 * DAY, ...ALONE, isInUse: async () => false });
    expect(later).toEqual([]);
    const month = new Date(Date.now() - 40 * DAY);
    utimesSync(join(base, "repositories", "r1"), month, month);
    expect(await tidyClones({ base, now: Date.now(), ...ALONE, isInUse: async () => false })).toEqual([
      join(base, "repositories", "r1"),
    ]);
  });
});
