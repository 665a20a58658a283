import { expect, test } from "bun:test";
import { chmodSync, existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { cliWorld, MAIN } from "./cli-bed.ts";
import { terminal, terminalTest } from "./terminal-bed.ts";

interface Report {
  healthy: boolean;
  findings: { name: string; state: string; says: string; remedy: string | null }[];
}

function finding(report: Report, name: string) {
  return report.findings.find((each) => each.name === name);
}

test("doctor checks everything, starts nothing, and creates nothing", async () => {
  const world = cliWorld();
  const report = await world.json<Report>("doctor");
  expect(report.healthy).toBe(true);
  const names = report.findings.map(({ name }) => name);
  for (const name of [
    "bun",
    "node",
    "git",
    "opencode",
    "claude",
    "data folder",
    "store",
    "daemon",
    "port",
    "worktrees",
  ]) {
    expect(names).toContain(name);
  }
  expect(finding(report, "daemon")?.says).toContain("not running");
  expect(existsSync(world.data)).toBe(false);
});

test("doctor and agents find the same OpenCode", async () => {
  const world = cliWorld();
  const says = finding(await world.json<Report>("doctor"), "opencode")?.says;
  const { agents } = await world.json<{ agents: { name: string; program: string | null }[] }>("agents");
  const program = agents.find(({ name }) => name === "opencode")?.program;
  expect(program).toBeString();
  expect(says).toContain(`(${program})`);
}, 60_000);

test("doctor fails for a data folder that cannot be created", async () => {
  const world = cliWorld();
  const file = join(world.folder, "file");
  writeFileSync(file, "");
  for (const path of [join(file, "data"), "/proc/asyncagents", join(world.folder, "n".repeat(300))]) {
    world.environment.ASYNCAGENTS_HOME = path;
    const said = await world.cli("doctor", "--json");
    expect(said.code).toBe(1);
    const report = JSON.parse(said.out) as Report;
    expect(finding(report, "data folder")).toMatchObject({ state: "problem" });
    expect(finding(report, "worktrees")).toMatchObject({ state: "problem" });
  }
  expect(readdirSync(world.folder).sort()).toEqual(["file", "home", "work"]);
}, 60_000);

test("doctor sees the daemon and the store, and warns about an open folder and a port in use", async () => {
  const world = cliWorld();
  const { pid } = await world.json<{ pid: number }>("up");
  chmodSync(world.data, 0o755);
  const taken = createServer();
  await new Promise<void>((resolve) => taken.listen(0, "127.0.0.1", resolve));
  world.environment.ASYNCAGENTS_API_PORT = String((taken.address() as { port: number }).port);
  try {
    const report = await world.json<Report>("doctor");
    expect(report.healthy).toBe(true);
    expect(finding(report, "daemon")).toMatchObject({ state: "ok", says: expect.stringContaining(`pid ${pid}`) });
    expect(finding(report, "store")?.says).toMatch(/schema \d+, 0 tasks/);
    expect(finding(report, "data folder")).toMatchObject({
      state: "warning",
      remedy: expect.stringContaining("chmod 700"),
    });
    expect(finding(report, "port")).toMatchObject({ state: "warning" });
  } finally {
    taken.close();
  }
});

test("doctor exits with 1 if there is a problem, and says what to do", async () => {
  const world = cliWorld();
  mkdirSync(world.data, { mode: 0o700 });
  writeFileSync(join(world.data, "asyncagents.db"), "this is no database; ".repeat(200));
  world.environment.PATH = world.work;
  const { code, out } = await world.cli("doctor");
  expect(code).toBe(1);
  expect(out).toMatch(/✗ store +does not open.*\n +→ It is damaged. Run: asyncagents down && asyncagents up/);
  expect(out).toMatch(/✗ git +not found\n +→ .*install git/);
});

terminalTest("agents shows how each is installed, at 80 columns too", async () => {
  const world = cliWorld();
  const { agents } = await world.json<{ agents: { program: string | null; install: string | null }[] }>("agents");
  const installs = agents.flatMap(({ program, install }) => (program === null && install !== null ? [install] : []));
  const { tmux, shows } = terminal(world);
  tmux("new-session", "-d", "-x", "80", "-y", "60", "sh");
  try {
    tmux("send-keys", `"${process.execPath}" "${MAIN}" agents; echo "ended $?"`, "Enter");
    const shown = await shows(/ended 0/);
    expect(installs.filter((install) => install.length < 40 && !shown.includes(install))).toEqual([]);
  } finally {
    tmux("kill-server");
  }
});
