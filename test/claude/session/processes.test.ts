import { afterEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { ClaudeSession } from "../../../src/claude/session/claude-session.ts";
import type { Task } from "../../../src/claude/tasks/task.ts";
import { calls, gate, say } from "../../../src/testing/models/script.ts";
import { agentInput, type ClaudeBed, claudeBed, closeBeds, follow, isAlive } from "../claude-bed.ts";

setDefaultTimeout(60_000);
afterEach(closeBeds);

/** All processes that run in the bed's folders, by their environment (only Linux shows it), with their commands. */
function processesOf({ home }: ClaudeBed): string[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((name) => {
      try {
        return readFileSync(`/proc/${name}/environ`, "utf8").includes(`CLAUDE_CONFIG_DIR=${join(home.root, "claude")}`);
      } catch {
        return false;
      }
    })
    .map((name) => `${name} ${commandOf(name)}`);
}

function commandOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ").slice(0, 300);
  } catch {
    return "";
  }
}

/** A waiting agent and two shells that would run for minutes, one of which has a child process. */
function scriptWork({ model }: ClaudeBed): void {
  const shell = (command: string) => ({ name: "Bash", input: { command, description: "sh", run_in_background: true } });
  model.script("main", [
    calls([
      { name: "Agent", input: agentInput("child") },
      shell("echo begun > one.txt; sleep 300"),
      shell("(setsid sleep 300 &) ; echo begun > two.txt; sleep 300"),
    ]),
    say("begun"),
    ...Array.from({ length: 4 }, () => say("noted")),
  ]);
  model.script("child", [gate("door"), say("done")]);
}

async function begin(bed: ClaudeBed): Promise<ClaudeSession> {
  scriptWork(bed);
  const claude = await bed.open();
  await claude.send(follow("main"));
  await bed.model.gate("door").reached;
  await until(() => ["one.txt", "two.txt"].every((file) => existsSync(join(bed.home.directory, file))));
  return claude;
}

async function until(condition: () => boolean): Promise<void> {
  for (const end = Date.now() + 20_000; !condition(); await Bun.sleep(20)) {
    if (Date.now() > end) throw new Error("The condition was not met in time.");
  }
}

describe.skipIf(process.platform !== "linux")("the processes of a session", () => {
  test("are gone after kill -9 of Claude, and every wait has ended as lost within two seconds", async () => {
    const bed = await claudeBed();
    const claude = await begin(bed);
    const tasks = claude.tasks.list();
    const waits = Promise.all(tasks.map((task) => task.wait()));
    expect(processesOf(bed).length).toBeGreaterThanOrEqual(5);
    const killed = performance.now();
    process.kill(claude.pid ?? 0, "SIGKILL");
    const outcomes = await waits;
    const took = performance.now() - killed;
    expect(outcomes.map(({ status }) => status)).toEqual(["lost", "lost", "lost"]);
    expect(outcomes[0]?.reason).toContain("SIGKILL");
    expect(took).toBeLessThan(2_000);
    await until(() => processesOf(bed).length === 0);
    expect((await tasks[0]?.wait())?.status).toBe("lost");
  });

  test("are gone after close, and the tasks were stopped", async () => {
    const bed = await claudeBed();
    const claude = await begin(bed);
    const tasks = claude.tasks.list();
    await claude.close({ stop: true });
    expect(processesOf(bed)).toEqual([]);
    expect(tasks.map((task) => task.status())).toEqual(["stopped", "stopped", "stopped"]);
    expect(isAlive(claude.pid)).toBe(false);
    await claude.close();
  });

  test("are gone at the end of a block with await using", async () => {
    const bed = await claudeBed();
    let task: Task | undefined;
    {
      await using claude = await begin(bed);
      [task] = claude.tasks.list();
      expect(task?.status()).toBe("");
    }
    expect([processesOf(bed), task?.status()]).toEqual([[], "stopped"]);
  });

  test("may continue for the time that close allows", async () => {
    const bed = await claudeBed();
    const claude = await begin(bed);
    const [agent, ...shells] = claude.tasks.list();
    const closing = claude.close({ wait: 1_500 });
    bed.model.gate("door").open();
    await closing;
    expect(agent?.status()).toBe("completed");
    expect(shells.map((task) => task.status())).toEqual(["stopped", "stopped"]);
    expect(processesOf(bed)).toEqual([]);
  });

  test("are gone when a close with wait is cut short by one without", async () => {
    const bed = await claudeBed();
    const claude = await begin(bed);
    const waiting = claude.close({ wait: 600_000 });
    await claude.close({ stop: true });
    await waiting;
    expect(processesOf(bed)).toEqual([]);
    expect(claude.tasks.list().map((task) => task.status())).toEqual(["stopped", "stopped", "stopped"]);
  });

  test.each(["SIGTERM", "SIGKILL"] as const)("are gone after %s of the program that opened it", async (signal) => {
    const bed = await claudeBed();
    scriptWork(bed);
    const program = Bun.spawn([process.execPath, join(import.meta.dir, "session-program.ts"), follow("main")], {
      cwd: bed.home.directory,
      env: bed.home.environment,
      stdio: ["ignore", "pipe", "inherit"],
    });
    await bed.model.gate("door").reached;
    await until(() => ["one.txt", "two.txt"].every((file) => existsSync(join(bed.home.directory, file))));
    expect(processesOf(bed).length).toBeGreaterThanOrEqual(6);
    program.kill(signal);
    await program.exited;
    await until(() => processesOf(bed).length === 0);
  });
});
