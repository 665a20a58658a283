import { describe, expect, onTestFinished, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { identityOf, isAlive } from "../../src/process/liveness.ts";
import { type CliWorld, cliWorld, type Running } from "../cli/cli-bed.ts";
import { root } from "../ground/repository.ts";

interface Shown {
  id: string;
  status: string;
  phase: string | null;
  sessionID: string;
  result: string | null;
  error: string | null;
}

async function runner(world: CliWorld, ...options: string[]): Promise<Running> {
  const started = world.start(["runner", "--hosts", "scripted", ...options]);
  onTestFinished(async () => {
    if (started.process.exitCode === null) started.process.kill("SIGKILL");
    await started.process.exited;
  });
  await started.said("Ctrl-C ends it");
  return started;
}

const queue = (world: CliWorld, prompt: string, ...options: string[]) =>
  world.json<Shown>("run", "--queue", "--host", "scripted", ...options, prompt);
const show = (world: CliWorld, id: string) => world.json<Shown>("show", id);

/** Waits for a file that an agent writes. */
async function written(world: CliWorld, file: string): Promise<void> {
  while (!existsSync(join(world.work, file))) await Bun.sleep(20);
}

describe("asyncagents runner", () => {
  test("does what was queued before and after it started, and only what its labels allow", async () => {
    const world = cliWorld();
    const early = await queue(world, "Early\n!say early");
    expect(early).toMatchObject({ status: "running", phase: "queued", sessionID: "" });
    expect(early.id).toStartWith("tsk_");
    const other = await queue(world, "Other\n!say other", "--label", "gpu");
    const works = await runner(world, "--label", "cpu");
    const late = await queue(world, "Late\n!say late", "--label", "cpu", "--wait");
    expect(late).toMatchObject({ status: "completed", result: "late" });
    expect(await show(world, early.id)).toMatchObject({ status: "completed", result: "early" });
    await works.said(`Completed ${early.id}.`);
    expect(works.text()).toContain(`Works on ${early.id}, in ${world.work}.\n`);
    const { out } = await world.cli("stats");
    expect(out).toMatch(/^default +1 /m);
    // The runner has its session open: the daemon asks it.
    const resumed = await world.json<Shown>("resume", early.id, "--wait", "More\n!say more");
    expect(resumed).toMatchObject({ id: early.id, result: "more" });
    expect((await world.cli("logs", early.id)).out).toContain("more");
    expect(await show(world, other.id)).toMatchObject({ phase: "queued" });
    expect((await world.cli("logs", other.id)).code).toBe(0);
    expect((await world.cli("cancel", other.id)).code).toBe(0);
    expect(await show(world, other.id)).toMatchObject({ status: "cancelled", sessionID: "" });
    expect((await world.cli("resume", other.id, "go on")).err).toContain("Launch it again");
    await world.cli("rm", other.id);
    expect((await world.cli("stats")).out).not.toContain("default");
  }, 60_000);

  test("does not work where a link has taken the place of the folder that was queued", async () => {
    const world = cliWorld();
    const [place, elsewhere] = [join(world.work, "place"), join(world.work, "elsewhere")];
    mkdirSync(place);
    mkdirSync(elsewhere);
    const queued = await queue(world, "Swap\n!write owned.txt x", "--dir", place);
    rmdirSync(place);
    symlinkSync(elsewhere, place);
    await runner(world);
    expect((await world.cli("wait", queued.id)).code).toBe(1);
    const { status, sessionID, error } = await show(world, queued.id);
    expect([status, sessionID, error]).toEqual(["error", "", expect.stringContaining("leads somewhere else now")]);
    expect(readdirSync(elsewhere)).toEqual([]);
  }, 60_000);

  test("rests when it has nothing to do: its event loop waits for its timers, again and again", async () => {
    const { process: child } = await runner(cliWorld());
    const waits = () => {
      const status = readFileSync(`/proc/${child.pid}/status`, "utf8");
      return Number(/^voluntary_ctxt_switches:\s+(\d+)/m.exec(status)?.[1]);
    };
    const from = waits();
    while (waits() < from + 30) await Bun.sleep(50);
  }, 30_000);

  test("that is killed: its task ends as interrupted, or begins again if a retry was asked for", async () => {
    const world = cliWorld();
    const prompt = (name: string) => `Works\n!write ${name}.begun x\n!wait ${name}.go\n!say done`;
    const once = await queue(world, prompt("once"));
    const twice = await queue(world, prompt("twice"), "--retry", "1");
    const first = await runner(world);
    await Promise.all([written(world, "once.begun"), written(world, "twice.begun")]);
    const session = (await show(world, twice.id)).sessionID;
    first.process.kill("SIGKILL");
    await first.process.exited;
    while ((await show(world, twice.id)).phase !== "queued") await Bun.sleep(50);
    const { out } = await world.cli("show", twice.id);
    expect(out).toMatch(/^waited +an earlier try was interrupted; it waits to begin again \(0 retries left\)$/m);
    await runner(world);
    expect(await world.cli("wait", once.id)).toMatchObject({ code: 1 });
    expect((await show(world, once.id)).error).toStartWith("interrupted");
    await world.cli("run", "--host", "scripted", "--wait", "Opens\n!write twice.go x");
    expect((await world.cli("wait", twice.id)).code).toBe(0);
    const done = await show(world, twice.id);
    expect(done).toMatchObject({ status: "completed", result: "done" });
    expect(done.sessionID).not.toBe(session);
  }, 60_000);

  test("drains on SIGTERM: it claims nothing more, says what it waits for, and ends when that is done", async () => {
    const world = cliWorld();
    const held = await queue(world, "Held\n!write held.begun x\n!wait go.txt\n!say held");
    const first = await runner(world, "--max", "1", "--json");
    await written(world, "held.begun");
    first.process.kill("SIGTERM");
    await first.said("Claims nothing more");
    expect(first.text()).toContain(`1 task (1 in ${world.work})`);
    const next = await queue(world, "Next\n!say next");
    await world.cli("run", "--host", "scripted", "--wait", "Opens\n!write go.txt x");
    const { code, out } = await first.ended;
    expect(code).toBe(0);
    expect((await world.cli("runners")).err).toContain("No runner is running");
    expect((await world.cli("runners", "--all")).out).toContain(" ended ");
    const lines = out.trimEnd().split("\n");
    expect(lines.map((line) => JSON.parse(line))).toContainEqual({
      at: expect.any(String),
      says: `Completed ${held.id}.`,
    });
    expect(await show(world, held.id)).toMatchObject({ status: "completed", result: "held" });
    expect(await show(world, next.id)).toMatchObject({ phase: "queued" });
  }, 60_000);

  test("does not keep the daemon of its machine from being stopped, whose folder is the same", async () => {
    const world = cliWorld();
    await world.cli("run", "--host", "scripted", "--wait", "hello");
    const works = await runner(world);
    const { id } = await queue(world, "Waits\n!write begun.txt x\n!wait go.txt");
    await written(world, "begun.txt");
    expect(await world.json("down")).toMatchObject({ stopped: true });
    expect(await show(world, id)).toMatchObject({ status: "running" });
    works.process.kill("SIGTERM");
    await works.said("Claims nothing more");
    works.process.kill("SIGTERM");
    expect((await works.ended).out).toMatch(
      /A second signal: 1 task is interrupted\.\n(.*\n)*The runner has ended\.\n$/,
    );
  }, 60_000);

  test("ends if its launcher is killed", async () => {
    const world = cliWorld();
    const words = ["node", join(root, "bin", "asyncagents.mjs"), "runner", "--hosts", "scripted"];
    const launcher = Bun.spawn(words, { cwd: world.work, env: world.environment, stdin: "ignore", stdout: "pipe" });
    const reader = launcher.stdout.getReader();
    const [pid = ""] = /(?<=pid )\d+/.exec(new TextDecoder().decode((await reader.read()).value)) ?? [];
    const child = identityOf(Number(pid));
    onTestFinished(() => {
      if (isAlive(child)) process.kill(child.pid, "SIGKILL");
    });
    launcher.kill("SIGKILL");
    // The runner has the pipe open until it ends.
    while (!(await reader.read()).done);
  }, 60_000);

  test("says what it lacks, and refuses wrong options", async () => {
    const world = cliWorld();
    world.environment.ASYNCAGENTS_OPENCODE = "/nowhere/opencode";
    const refused = await world.cli("runner", "--hosts", "opencode");
    expect([refused.code === 0, refused.out.includes("No tasks for opencode")]).toEqual([false, true]);
    for (const options of [
      ["--limit", "host=3"],
      ["--limit", "total:x=3"],
      ["--label", "a b"],
    ]) {
      expect((await world.cli("runner", ...options)).code).toBe(2);
    }
    // A host that it would leave out without a word, a limit that would count nothing.
    const oneAgent = "takes `acp`, which is all ACP agents of the machine";
    for (const [option, value, reason] of [
      ["--hosts", "scripted,x", '--hosts takes opencode, claude, acp, scripted, not "x"'],
      ["--hosts", "scripted,acp:opencode", `--hosts ${oneAgent}`],
      ["--limit", "host:nope=3", '--limit host: takes opencode, claude, acp, scripted, not "nope"'],
      ["--limit", "host:acp:codex=3", `--limit host: ${oneAgent}`],
    ] as const) {
      const { code, err } = await world.cli("runner", option, value);
      expect([code, err]).toEqual([2, expect.stringContaining(reason)]);
    }
    expect((await world.cli("run", "--label", "gpu", "x")).err).toContain("--label needs --queue");
  }, 60_000);
});
