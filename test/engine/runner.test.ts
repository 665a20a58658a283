/** The runner on real scripted hosts and a real store: engines are created, shared, released, recovered, stopped. */
import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { Runner } from "../../src/engine/runner.ts";
import type { HostEvent } from "../../src/hosts/host.ts";
import type { HostMaker } from "../../src/hosts/host-maker.ts";
import { scriptedHosts } from "../../src/hosts/scripted/scripted-hosts.ts";
import { INTERRUPTED } from "../../src/model/evidence.ts";
import type { Task } from "../../src/model/task.ts";
import { type Clock, systemClock } from "../../src/process/clock.ts";
import { sqliteStore } from "../../src/store/open.ts";
import { newTask } from "../../src/testing/sample-task.ts";
import { codeOf } from "./engine-bed.ts";
import { ended, launch, log, type RunnerBed, runnerBeds, when, working } from "./runner-bed.ts";

const { newBed, onEnd } = runnerBeds();

describe("engines", () => {
  test("one for each host and directory, however the path is written and however many ask at once", async () => {
    const bed = await newBed();
    const runner = bed.runner();
    const [one, two] = [bed.directory("one"), bed.directory("two")];
    symlinkSync(one, join(bed.folder, "link"));
    const asked = [one, `${one}/`, join(bed.folder, "link"), two, one];
    const engines = await Promise.all(asked.map((directory) => runner.open("scripted", directory)));
    expect(new Set(engines).size).toBe(2);
    expect(
      runner
        .engines()
        .map(({ instance }) => instance.directory)
        .toSorted(),
    ).toEqual([one, two]);
    expect(await bed.store.instances()).toHaveLength(2);
  });

  test("tasks in two directories run concurrently, each in its own", async () => {
    const bed = await newBed();
    const runner = bed.runner();
    const names = ["one", "two"];
    const engines = await Promise.all(names.map((name) => runner.open("scripted", bed.directory(name))));
    const tasks = await Promise.all(engines.map((engine, at) => launch(engine, `!write made.txt ${names[at]}`)));
    for (const task of tasks) expect(await ended(bed.store, task)).toMatchObject({ status: "completed" });
    expect(names.map((name) => readFileSync(join(bed.folder, name, "made.txt"), "utf8"))).toEqual(["one\n", "two\n"]);
  });

  test("a host that cannot be opened is rejected with the reason, and can be requested again", async () => {
    const bed = await newBed();
    let problem: string | null = "Install it: npm install -g nothing";
    const maker: HostMaker = { ...scriptedHosts(), problem: async () => problem };
    const runner = bed.runner({ makers: [maker] });
    const directory = bed.directory("one");
    expect(await codeOf(runner.open("other", directory))).toBe("host_unavailable");
    expect(await codeOf(runner.open("scripted", join(directory, "missing")))).toBe("host_unavailable");
    expect(runner.open("scripted", directory)).rejects.toThrow("Install it");
    problem = null;
    expect((await runner.open("scripted", directory)).instance.directory).toBe(directory);
  });

  test("an idle one is released, a busy one is not, and the next prompt gets a new one", async () => {
    const bed = await newBed();
    const made = scriptedHosts();
    const closed = Promise.withResolvers<string>();
    const maker: HostMaker = {
      ...made,
      async open(directory) {
        const opened = await made.open(directory);
        const close = () => opened.close().finally(() => closed.resolve(directory));
        return { ...opened, close };
      },
    };
    const runner = bed.runner({ makers: [maker], idleMs: 20 });
    const busy = await runner.open("scripted", bed.directory("busy"));
    const held = await launch(busy, "!wait go");
    await working(bed.store, held);
    const idle = await runner.open("scripted", bed.directory("idle"));
    expect(await closed.promise).toBe(bed.directory("idle"));
    expect(runner.engines()).toEqual([busy]);
    expect(await runner.open("scripted", bed.directory("idle"))).not.toBe(idle);
    writeFileSync(join(bed.folder, "busy", "go"), "");
    expect(await ended(bed.store, held)).toMatchObject({ status: "completed" });
  });

  test("one whose launch is still under way is not released", async () => {
    const bed = await newBed();
    const made = scriptedHosts();
    const [starting, go, closed] = [1, 2, 3].map(() => Promise.withResolvers<string>());
    const maker: HostMaker = {
      ...made,
      async open(directory) {
        const { host, close } = await made.open(directory);
        const start: typeof host.start = async (input) => {
          starting?.resolve("");
          await go?.promise;
          return host.start(input);
        };
        return { host: { ...host, start }, close: () => close().finally(() => closed?.resolve(directory)) };
      },
    };
    const runner = bed.runner({ makers: [maker], idleMs: 20 });
    const slow = await runner.open("scripted", bed.directory("slow"));
    const launched = launch(slow, "hello");
    await starting?.promise;
    // It is looked at when an idle one is released.
    await runner.open("scripted", bed.directory("idle"));
    expect(await closed?.promise).toBe(bed.directory("idle"));
    expect(runner.engines()).toEqual([slow]);
    go?.resolve("");
    expect(await ended(bed.store, await launched)).toMatchObject({ status: "completed" });
  });

  test("a cancel requested by another process reaches the engine that runs the task", async () => {
    const bed = await newBed();
    const engine = await bed.runner().open("scripted", bed.directory("one"));
    const other = await bed.runner().open("scripted", bed.directory("two"));
    const task = await launch(engine, "!wait go");
    await working(bed.store, task);
    const { task: after } = await other.cancelTask((await bed.store.task(task.id)) ?? task, "no longer needed");
    expect(after).toMatchObject({ status: "cancelled", run: { outcome: "cancelled" } });
    expect(existsSync(join(bed.folder, "one", "go"))).toBe(false);
  });
});

describe("ends", () => {
  test("a stop ends every live run as interrupted, and nothing opens afterwards", async () => {
    const bed = await newBed();
    const runner = bed.runner();
    const engine = await runner.open("scripted", bed.directory("one"));
    const tasks = [await launch(engine, "!wait go"), await launch(engine, "!ask Which?")];
    for (const task of tasks) await working(bed.store, task);
    await runner.stop();
    for (const task of tasks) {
      expect(await bed.store.task(task.id)).toMatchObject({ status: "error", run: { error: INTERRUPTED } });
    }
    expect(await bed.store.instances()).toEqual([]);
    expect(await codeOf(runner.open("scripted", bed.directory("one")))).toBe("host_unavailable");
  });

  /** Conversations are read until `isRead` says so; then the host has to be open. */
  function slowlyRead(isRead: (closed: Promise<void>) => Promise<unknown>): HostMaker {
    const made = scriptedHosts();
    return {
      ...made,
      async open(directory) {
        const { host, close } = await made.open(directory);
        const closed = Promise.withResolvers<void>();
        let isOpen = true;
        const messages: typeof host.messages = async (...request) => {
          await isRead(closed.promise);
          if (!isOpen) throw new Error("the host is closed");
          return host.messages(...request);
        };
        const end = () => {
          isOpen = false;
          closed.resolve();
          return close();
        };
        return { host: { ...host, messages }, close: end };
      },
    };
  }

  test("a stop keeps the conversations of the last runs before it closes their hosts", async () => {
    const bed = await newBed();
    const maker = slowlyRead((closed) => Promise.race([closed, Bun.sleep(50)]));
    const runner = bed.runner({ makers: [maker], machine: "mac_1" });
    const engine = await runner.open("scripted", bed.directory("one"));
    const tasks = [await launch(engine, "!wait go"), await launch(engine, "!say done")];
    await ended(bed.store, tasks[1] as Task);
    await runner.stop();
    for (const { id } of tasks) expect(await bed.store.transcripts.get(id, "conversation")).not.toBeNull();
  });

  test("a stop does not wait for ever for a conversation that nobody can read", async () => {
    const bed = await newBed();
    const makers = [slowlyRead(() => new Promise(() => {}))];
    const after: Clock["after"] = (ms, work, options) => systemClock.after(Math.min(ms, 20), work, options);
    const runner = bed.runner({ makers, machine: "mac_1", after });
    const engine = await runner.open("scripted", bed.directory("one"));
    const task = await launch(engine, "!say done");
    await ended(bed.store, task);
    await runner.stop();
    expect(await bed.store.instances()).toEqual([]);
  });

  test("when the program behind a host dies, its runs end with that reason, except those already answered", async () => {
    const bed = await newBed();
    const made = scriptedHosts();
    const listeners = new Set<(event: HostEvent) => void>();
    const maker: HostMaker = {
      ...made,
      async open(directory) {
        const opened = await made.open(directory);
        const onEvent = (listener: (event: HostEvent) => void) => {
          listeners.add(listener);
          return opened.host.onEvent((event) => event.type !== "session.idle" && listener(event));
        };
        return { ...opened, host: { ...opened.host, onEvent } };
      },
    };
    const engine = await bed.runner({ makers: [maker] }).open("scripted", bed.directory("one"));
    const answered = await launch(engine, "!say heard");
    const held = await launch(engine, "!wait go");
    await working(bed.store, held);
    await when(bed.store, answered, ({ progress }) => progress.tokens.output > 0);
    for (const listener of listeners) listener({ type: "host.ended", reason: "its program was killed" });
    expect(await ended(bed.store, held)).toMatchObject({ status: "error", run: { error: "its program was killed" } });
    expect(await ended(bed.store, answered)).toMatchObject({ status: "completed", run: { result: "heard" } });
  });
});

describe("what a dead process left", () => {
  /** Leaves live tasks like a killed process: nothing is ended, and its instances stay. */
  async function killed(bed: RunnerBed, prompts: readonly string[], directories: readonly string[]): Promise<Task[]> {
    const store = await sqliteStore({ directory: join(bed.folder, "store") });
    const maker = scriptedHosts({ folder: join(bed.folder, "sessions") });
    const runner = new Runner({ store, log, makers: [maker] });
    const tasks: Task[] = [];
    for (const [at, prompt] of prompts.entries()) {
      const engine = await runner.open("scripted", directories[at] ?? "");
      tasks.push(await launch(engine, prompt));
    }
    for (const task of tasks) await working(store, task);
    await maker.stop();
    // It must do nothing any more while other tests run.
    onEnd(async () => {
      await runner.stop();
      await store.close();
    });
    return tasks;
  }
  const isAlive = () => false;

  /** What a process left that died before its session was made. */
  async function openLaunch({ store }: RunnerBed, directory: string): Promise<string> {
    const { sessionId: _, ...task } = newTask(`lau_${basename(directory)}`, { directory, owner: "ins_dead" });
    await store.write((transaction) => transaction.openLaunch({ ...task, owner: "ins_dead", machine: "", at: 1 }));
    return task.id;
  }

  test("is ended as interrupted by one engine for all directories, and can be resumed", async () => {
    const bed = await newBed();
    const directories = [bed.directory("one"), bed.directory("two")];
    const [first, second] = (await killed(bed, ["!wait go", "!wait go"], directories)) as [Task, Task];
    const runner = bed.runner({ isAlive });
    await runner.recover();
    for (const task of [first, second]) {
      expect(await bed.store.task(task.id)).toMatchObject({ status: "error", run: { error: INTERRUPTED } });
    }
    expect(runner.engines()).toHaveLength(1);
    const again = await runner.open("scripted", directories[1] ?? "");
    const task = (await bed.store.task(second.id)) ?? second;
    await again.resumeTask(task, { prompt: "!say once more" });
    expect(await ended(bed.store, task)).toMatchObject({ status: "completed", run: { result: "once more" } });
  });

  test("is ended as interrupted even if the directory is gone", async () => {
    const bed = await newBed();
    const [task] = (await killed(bed, ["!wait go"], [bed.directory("gone")])) as [Task];
    rmSync(join(bed.folder, "gone"), { recursive: true });
    const runner = bed.runner({ isAlive });
    await runner.recover();
    expect(await bed.store.task(task.id)).toMatchObject({ status: "error", run: { error: INTERRUPTED } });
    expect(runner.engines()).toEqual([]);
  });

  test("a launch whose directory is gone is closed, and one whose host cannot be opened now is kept", async () => {
    const bed = await newBed();
    const directory = bed.directory("gone");
    await openLaunch(bed, directory);
    const kept = await openLaunch(bed, bed.directory("kept"));
    rmSync(directory, { recursive: true });
    const maker: HostMaker = { ...scriptedHosts(), problem: async () => "not installed" };
    const logged: string[] = [];
    const heard = { info: (line: string) => void logged.push(line), error: () => {} };
    const runner = bed.runner({ isAlive, makers: [maker], log: heard });
    expect(await runner.recover()).toBe(false);
    expect((await bed.store.launches()).map(({ id }) => id)).toEqual([kept]);
    expect(logged).toContainEqual(expect.stringContaining("its directory is gone"));
    expect(await bed.runner({ isAlive }).recover()).toBe(true);
    expect([await bed.store.launches(), (await bed.store.tasks({})).total]).toEqual([[], 0]);
  });

  test("waits if the host cannot be opened, and another live process's work is left alone", async () => {
    const bed = await newBed();
    const [task] = (await killed(bed, ["!wait go"], [bed.directory("one")])) as [Task];
    const maker: HostMaker = { ...scriptedHosts(), problem: async () => "not installed" };
    await bed.runner({ isAlive: () => true }).recover();
    expect(await bed.store.task(task.id)).toMatchObject({ status: "running" });
    await bed.runner({ isAlive, makers: [maker] }).recover();
    expect(await bed.store.task(task.id)).toMatchObject({ status: "running" });
  });
});
