import { expect, onTestFinished, test } from "bun:test";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DESCENDANTS, guardProcess } from "../../src/process/process-guard.ts";

/** The processes below `top` in a table of processes and their parents. */
async function below(top: number, table: readonly string[]): Promise<number[]> {
  const awk = Bun.spawn(["awk", "-v", `top=${top}`, DESCENDANTS], {
    stdin: new Blob([table.join("\n")]),
    stdout: "pipe",
    timeout: 10_000,
  });
  const text = await new Response(awk.stdout).text();
  expect(await awk.exited).toBe(0);
  return text.trim().split("\n").filter(Boolean).map(Number).sort();
}

test("all processes below one are found, and no others", async () => {
  expect(await below(10, ["1 0", "10 1", "11 10", "12 11", "20 1", "21 20"])).toEqual([10, 11, 12]);
});

test("a circle in the table of processes does not hold up the guard", async () => {
  expect(await below(10, ["10 1", "11 10", "30 31", "31 32", "32 30", "33 30"])).toEqual([10, 11]);
});

const MARK = { name: "ASYNCAGENTS_TEST_GUARD", value: crypto.randomUUID() };

/** In a group of its own. Resolves when it has written its first line. */
async function started(script: string, environment = {}): Promise<ChildProcess> {
  const child = spawn("sh", ["-c", script], {
    stdio: ["pipe", "pipe", "ignore"],
    detached: true,
    env: { ...process.env, ...environment },
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  child.stdin?.on("error", () => {});
  await said(child);
  return child;
}

/** Its next line; empty if it has ended, with everything that has its output. */
async function said(child: ChildProcess): Promise<string> {
  if (child.exitCode !== null || child.signalCode !== null) return "";
  const line = child.stdout === null ? [] : once(child.stdout, "data");
  return String(await Promise.race([line, once(child, "close").then(() => "")])).trim();
}

test("a process of somebody else whose name poses as a line about its parent is left alone", async () => {
  const program = await started("echo ready; exec sleep 60", { [MARK.name]: MARK.value });
  const { pid = 0 } = program;
  // Its `stat` begins like that of a child of the program.
  const other = await started(`printf 'a) S ${pid} \\n' > /proc/$$/comm; echo ready; read -r _; echo alive`);
  const ended = once(program, "close");
  await guardProcess(pid, MARK)();
  await ended;
  const answer = said(other);
  other.stdin?.end("\n");
  expect(await answer).toBe("alive");
});

test("a descendant in a session of its own that dropped the mark is ended, too", async () => {
  const program = await started("setsid env -i sh -c 'echo ready; sleep 60' & wait", { [MARK.name]: MARK.value });
  const ended = once(program, "close");
  await guardProcess(program.pid ?? 0, MARK)();
  // The descendant has the same output.
  await ended;
  expect(program.signalCode).toBe("SIGKILL");
});

test("one look in which the processes were not seen is not the last one", async () => {
  const folder = mkdtempSync(join(tmpdir(), "guard-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  // A process that ends between two steps of a look, and has started another one before, leaves a look with nothing.
  const blind = `#!/bin/sh\ncase "$1" in -lz*) [ -e ${folder}/looked ] || { : > ${folder}/looked; exit 1; } ;; esac\nexec ${Bun.which("grep")} "$@"\n`;
  writeFileSync(join(folder, "grep"), blind);
  chmodSync(join(folder, "grep"), 0o755);
  const { PATH } = process.env;
  process.env.PATH = `${folder}:${PATH}`;
  onTestFinished(() => {
    process.env.PATH = PATH;
  });
  // Nobody's child, and in a session of its own: only its mark tells whose it is.
  const program = await started("(setsid sleep 60 &); echo ready; read -r _", {
    [MARK.name]: MARK.value,
  });
  const exited = once(program, "exit");
  // What it started has the same output.
  const ended = once(program, "close");
  program.stdin?.end("\n");
  await exited;
  await guardProcess(program.pid ?? 0, MARK)();
  await ended;
});
