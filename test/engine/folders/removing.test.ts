/** A runner closes what is open in a folder, and keeps others out of it while it is removed. */
import { describe, expect, test } from "bun:test";
import type { Engine } from "../../../src/engine/engine.ts";
import type { HostMaker } from "../../../src/hosts/host-maker.ts";
import { scriptedHosts } from "../../../src/hosts/scripted/scripted-hosts.ts";
import { INTERRUPTED } from "../../../src/model/evidence.ts";
import type { Store } from "../../../src/store/store.ts";
import { codeOf } from "../engine-bed.ts";
import { ended, launch, runnerBeds, working } from "../runner-bed.ts";

const { newBed } = runnerBeds();

describe("a folder that is removed", () => {
  test("a released directory loses its engine and its runs, others keep theirs", async () => {
    const bed = await newBed();
    const runner = bed.runner();
    const engine = await runner.open("scripted", bed.directory("one"));
    const other = await runner.open("scripted", bed.directory("two"));
    const task = await launch(engine, "!wait go");
    await working(bed.store, task);
    await runner.release(bed.directory("one"));
    expect(await bed.store.task(task.id)).toMatchObject({ status: "error", run: { error: INTERRUPTED } });
    expect(runner.engines()).toEqual([other]);
  });

  test("a released directory loses what is open in its subfolders too, and its neighbours with a longer name stay", async () => {
    const bed = await newBed();
    const runner = bed.runner();
    for (const name of ["clone", "clone/web", "clone/web/deep"]) await runner.open("scripted", bed.directory(name));
    const others = [bed.folder, bed.directory("clone-2")];
    for (const each of others) await runner.open("scripted", each);
    await runner.release(bed.directory("clone"));
    expect(runner.engines().map(({ instance }) => instance.directory)).toEqual(others);
  });

  test("a directory in which a task is live, or below which, is not removed, unless that is forced", async () => {
    const bed = await newBed();
    const runner = bed.runner();
    const task = await launch(await runner.open("scripted", bed.directory("clone/web")), "!wait go");
    await working(bed.store, task);
    const clone = bed.directory("clone");
    const removed: string[] = [];
    const remove = (directory: string, force = false) =>
      codeOf(
        runner.removing(directory, { force }, async (vacate) => {
          await vacate();
          removed.push(directory);
        }),
      );
    expect(await remove(clone)).toBe("worktree_busy");
    expect(await bed.store.task(task.id)).toMatchObject({ status: "running" });
    expect(await remove(bed.directory("clone/other"))).toBe("none");
    expect(await remove(clone, true)).toBe("none");
    expect(await bed.store.task(task.id)).toMatchObject({ status: "error", run: { error: INTERRUPTED } });
    expect(removed).toEqual([bed.directory("clone/other"), clone]);
  });

  test("what another process begins while a directory is closed is seen directly before the removal", async () => {
    const bed = await newBed();
    const [runner, other] = [bed.runner(), bed.runner()];
    const directory = bed.directory("clone");
    const engine = await other.open("scripted", directory);
    const removing = runner.removing(directory, { force: false }, async (vacate) => {
      const task = await launch(engine, "!wait go");
      await working(bed.store, task);
      await vacate();
    });
    expect(await codeOf(removing)).toBe("worktree_busy");
  });

  test("a resume that waited for a removal is refused if only its engine was closed, and works the next time", async () => {
    const bed = await newBed();
    const runner = bed.runner();
    const directory = bed.directory("one");
    const engine = await runner.open("scripted", directory);
    const task = await ended(bed.store, await launch(engine, "!say done"));
    const resume = (by: Engine) => by.resumeTask(task, { prompt: "!say more" });
    const waiting = await runner.removing(directory, { force: false }, async (vacate) => {
      const code = codeOf(resume(engine));
      await vacate();
      return [code];
    });
    expect(await Promise.all(waiting)).toEqual(["host_unavailable"]);
    expect(await bed.store.task(task.id)).toMatchObject({ status: "completed", run: { number: 0 } });
    expect(await resume(await runner.open("scripted", directory))).toMatchObject({ status: "resumed" });
  });

  test("a released directory loses its host too, although the store fails meanwhile", async () => {
    const bed = await newBed();
    const hosts = scriptedHosts();
    const closed: string[] = [];
    const maker: HostMaker = {
      ...hosts,
      async open(directory) {
        const opened = await hosts.open(directory);
        const close = async () => {
          closed.push(directory);
          await opened.close();
        };
        return { ...opened, close };
      },
    };
    let isFull = false;
    const endInstance: Store["endInstance"] = async (id) => {
      if (isFull) throw new Error("the disk is full");
      await bed.store.endInstance(id);
    };
    const runner = bed.runner({ makers: [maker], store: { ...bed.store, endInstance } });
    const directory = bed.directory("one");
    await runner.open("scripted", directory);
    isFull = true;
    await runner.release(directory);
    isFull = false;
    expect(closed).toEqual([directory]);
  });
});
