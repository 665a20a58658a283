import { expect, test } from "bun:test";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { COMMANDS } from "../../src/cli/commands.ts";
import { complete, completionScript, SHELLS } from "../../src/cli/completions.ts";
import { cliWorld, MAIN } from "./cli-bed.ts";

const world = cliWorld();

function values(...words: string[]): string[] {
  const found = complete(COMMANDS, words);
  return "values" in found ? found.values.map(([value]) => value) : [`<${found.place}>`];
}

test("candidates follow from the command table", () => {
  expect(values("att")).toEqual(["attach", "attempt"]);
  expect(values("attempt", "s")).toEqual(["start", "show", "stop"]);
  expect(values("project", "repo", "")).toEqual(["add", "ls", "list", "set", "rm"]);
  expect(values("ls", "--st")).toEqual(["--status"]);
  expect(values("run", "--host", "")).toEqual(["opencode", "claude", "acp", "scripted"]);
  expect(values("run", "--host", "claude", "-C", "")).toEqual(["<directory>"]);
  expect(values("show", "")).toEqual(["<task>"]);
  expect(values("wait", "one", "--timeout", "5m", "")).toEqual(["<task>"]);
  expect(values("attempt", "diff", "")).toEqual(["<attempt>"]);
  expect(values("daem")).toEqual([]);
});

test.each(SHELLS)("the script for %s names all commands", async (shell) => {
  const { code, out } = await world.cli("completion", shell);
  expect(code).toBe(0);
  expect(out).toBe(completionScript(shell, COMMANDS));
  const words = new Set(out.split(/[\s"':]+/));
  for (const { name, hidden } of COMMANDS) if (!hidden) expect(words).toContain(name.split(" ")[0] ?? "");
});

test("a real bash completes commands, options, files and task ids", async () => {
  const { id } = await world.json<{ id: string }>("run", "--host", "scripted", "Anything");
  const bin = join(world.folder, "bin");
  mkdirSync(bin);
  writeFileSync(join(bin, "asyncagents"), `#!/bin/sh\nexec "${process.execPath}" "${MAIN}" "$@"\n`);
  chmodSync(join(bin, "asyncagents"), 0o755);
  const script = `
    eval "$(asyncagents completion bash)"
    ask() { COMP_WORDS=(asyncagents "$@"); COMP_CWORD=$#; COMPREPLY=(); _asyncagents; echo "\${COMPREPLY[*]}"; }
    ask re; ask attempt me; ask run --wo; ask install c; ask show ''
  `;
  const child = Bun.spawn(["bash", "--norc", "-c", script], {
    cwd: world.work,
    stdout: "pipe",
    stderr: "pipe",
    env: { ...world.environment, PATH: `${bin}:${world.environment.PATH}` },
  });
  const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  expect(err).toBe("");
  expect(out.split("\n")).toEqual(["resume restart", "merge", "--worktree", "claude cursor", id.slice(-8), ""]);
});
