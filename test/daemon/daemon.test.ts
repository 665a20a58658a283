import { describe, expect, test } from "bun:test";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { acquireDaemonLock } from "../../src/daemon/daemon-lock.ts";
import { findDaemon } from "../../src/daemon/find-daemon.ts";
import { freePort } from "../../src/process/free-port.ts";
import { isAlive } from "../../src/process/liveness.ts";
import { cliWorld, daemonLives, daemonRecords } from "../cli/cli-bed.ts";

interface Up {
  pid: number;
  url: string;
  started: boolean;
}

describe("the daemon", () => {
  test("starts once when commands race, and each of them gets its answer", async () => {
    const world = cliWorld();
    const all = await Promise.all(Array.from({ length: 5 }, () => world.cli("ls", "--json")));
    expect(all.map(({ code }) => code)).toEqual([0, 0, 0, 0, 0]);
    for (const { out } of all) expect(JSON.parse(out)).toEqual({ tasks: [], total: 0 });
    expect(daemonRecords(world.data)).toHaveLength(1);
    expect(await world.json("down")).toMatchObject({ stopped: true });
    expect(daemonLives(world.data)).toEqual(["the daemon listens", "the daemon ends"]);
  });

  test("is started again by the next command after kill -9, even by one that is waiting", async () => {
    const world = cliWorld();
    const first = await world.json<Up>("up");
    expect(first.started).toBe(true);
    expect(await world.json<Up>("up")).toMatchObject({ pid: first.pid, started: false });
    const { id } = await world.json<{ id: string }>("run", "--host", "scripted", "Asks\n!permit May I?");
    const waiting = world.start(["wait", id]);
    await waiting.said("asks for a permission");
    process.kill(first.pid, "SIGKILL");
    const { code, out } = await waiting.ended;
    // The runs of a killed daemon have ended and say why: a prompt is not run a second time.
    expect(code).toBe(1);
    expect(out).toContain("failed after");
    const second = await world.json<Up>("up");
    expect(second.pid).not.toBe(first.pid);
    expect(await world.json("show", id)).toMatchObject({
      status: "error",
      error: expect.stringContaining("interrupted"),
    });
    expect(daemonRecords(world.data)).toEqual([second.pid]);
  });

  test("that is killed starts what waited for its tasks once it is back, and each once", async () => {
    const world = cliWorld();
    const { pid } = await world.json<Up>("up");
    const run = (...words: string[]) => world.json<{ id: string }>("run", "--host", "scripted", ...words);
    const first = await run("First\n!wait never.txt");
    const after = ["--after", first.id, "--if-failed"];
    // Nobody has this folder open after the restart, and nothing is to be recovered there.
    const folder = join(world.work, "elsewhere");
    mkdirSync(folder);
    const anyway = await run("--dir", folder, ...after, "run_anyway", "Anyway\n!write ran.txt once\n!say ran");
    const skipped = await run(...after, "skip", "Skipped\n!write skipped.txt never");
    const last = await run("--after", anyway.id, `Last\n!say {{result:${anyway.id}}}`);
    process.kill(pid, "SIGKILL");
    expect((await world.cli("wait", last.id)).code).toBe(0);
    expect(await world.json("show", anyway.id)).toMatchObject({ status: "completed", result: "ran", resumeCount: 0 });
    expect(await world.json("show", skipped.id)).toMatchObject({
      status: "cancelled",
      error: `Not run: it was to start after task ${first.id}, which failed.`,
    });
    expect([existsSync(join(folder, "ran.txt")), existsSync(join(world.work, "skipped.txt"))]).toEqual([true, false]);
    const { messages } = await world.json<{ messages: { role: string }[] }>("logs", anyway.id);
    expect(messages.filter(({ role }) => role === "user")).toHaveLength(1);
  });

  test("does not stop while one of its tasks runs unless forced, and then it is gone", async () => {
    const world = cliWorld();
    const waits = () => world.json("run", "--host", "scripted", "Waits\n!wait never.txt");
    await waits();
    const daemon = findDaemon(world.data);
    if (!daemon) throw new Error("no daemon");
    const refused = await world.cli("down");
    expect(refused).toMatchObject({ code: 1, err: expect.stringContaining("--force") });
    await Promise.all([waits(), waits(), waits()]);
    const names = 'daemon: "Waits", "Waits", "Waits" and 1 more. Wait for them';
    expect((await world.cli("down")).err).toContain(`4 tasks are running in the ${names}`);
    expect(isAlive(daemon)).toBe(true);
    expect(await world.json("down", "--force")).toEqual({ stopped: true, pid: daemon.pid });
    expect(isAlive(daemon)).toBe(false);
    expect(existsSync(join(world.data, "servers", `${daemon.pid}.json`))).toBe(false);
    expect(await world.json("down")).toEqual({ stopped: false, pid: null });
  });

  test("stops while tasks wait for runners: they wait in the store", async () => {
    const world = cliWorld();
    // So that the daemon has the folder open.
    await world.cli("run", "--host", "scripted", "--wait", "hello");
    const { id } = await world.json<{ id: string }>("run", "--queue", "--host", "scripted", "Later");
    expect(await world.json("down")).toMatchObject({ stopped: true });
    expect(await world.json("show", id)).toMatchObject({ status: "running", phase: "queued" });
  });

  test("listens on the port that up and restart name, and is a new process after a restart", async () => {
    const world = cliWorld();
    const port = await freePort();
    const taken = createServer().listen(port, "127.0.0.1");
    await once(taken, "listening");
    const beside = await world.cli("up", "--port", String(port));
    expect([beside.code, beside.err]).toEqual([0, expect.stringContaining(`Port ${port} is in use: it took `)]);
    expect((await world.cli("down")).code).toBe(0);
    taken.close();
    await once(taken, "close");
    const first = await world.json<Up & { port: number }>("up", "--port", String(port));
    expect(first.port).toBe(port);
    const other = await world.cli("up", "--port", String(port + 1));
    expect(other).toMatchObject({ code: 1, err: expect.stringContaining(`asyncagents restart --port ${port + 1}`) });
    const second = await world.json<Up & { port: number }>("restart", "--port", "0");
    expect(second.pid).not.toBe(first.pid);
    expect(second.port).not.toBe(port);
    await world.json("run", "--host", "scripted", "Waits\n!wait never.txt");
    expect(await world.cli("restart")).toMatchObject({ code: 1, err: expect.stringContaining("restart --force") });
    expect((await world.json<Up>("restart", "--force")).started).toBe(true);
    expect((await world.cli("up", "--port", "many")).code).toBe(2);
  });

  test("makes its files private to its owner, and runs in its own folder", async () => {
    const world = cliWorld();
    const away = join(world.folder, "away");
    mkdirSync(away);
    // Relative to the folder the command was called in, not the daemon's.
    world.environment.ASYNCAGENTS_HOME = "../data";
    const { code } = await world.start(["up"], { cwd: away }).ended;
    expect(code).toBe(0);
    const { pid } = await world.json<Up>("up");
    for (const file of ["daemon.log", "daemon.lock"]) expect(statSync(join(world.data, file)).mode & 0o777).toBe(0o600);
    expect(statSync(world.data).mode & 0o777).toBe(0o700);
    if (process.platform !== "linux") return;
    rmSync(away, { recursive: true });
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // It is its own session leader: no terminal can reach it.
    expect(Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[3])).toBe(pid);
    expect((await world.cli("ls")).code).toBe(0);
  });

  test("stays in the terminal with --foreground, ends on Ctrl-C, and exits immediately if another one is running", async () => {
    const world = cliWorld();
    const foreground = world.start(["up", "--foreground"]);
    await foreground.said("The daemon is running");
    expect(await world.start(["up", "--foreground"]).ended).toMatchObject({
      code: 0,
      out: expect.stringContaining("already"),
    });
    foreground.process.kill("SIGINT");
    expect((await foreground.ended).code).toBe(0);
    expect(findDaemon(world.data)).toBeNull();
  });

  test("that cannot start is reported with exit code 5 and the end of its log", async () => {
    const world = cliWorld();
    mkdirSync(world.data, { mode: 0o700 });
    writeFileSync(join(world.data, "asyncagents.db"), "this is no database, and so the store cannot be opened at all");
    mkdirSync(join(world.data, "daemon.lock"));
    const { code, err } = await world.cli("ls", "--json");
    expect(code).toBe(5);
    expect(JSON.parse(err)).toMatchObject({
      error: { code: "daemon_unavailable", message: expect.stringContaining("daemon.log") },
    });
  });

  test("of another version is used, with a warning", async () => {
    const world = cliWorld();
    const { pid } = await world.json<Up>("up");
    const file = join(world.data, "servers", `${pid}.json`);
    writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, "utf8")), version: "0.0.1" }), {
      mode: 0o600,
    });
    const said = await world.cli("ls");
    expect(said).toMatchObject({ code: 0, err: expect.stringContaining("asyncagents down && asyncagents up") });
  });
});

test("one holder has the lock, and it is free again once released", () => {
  const world = cliWorld();
  const lock = acquireDaemonLock(world.data);
  expect(lock).not.toBeNull();
  expect(acquireDaemonLock(world.data)).toBeNull();
  lock?.release();
  const next = acquireDaemonLock(world.data);
  expect(next).not.toBeNull();
  next?.release();
});
