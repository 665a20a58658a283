/** The guide's example of the board, typed line by line into a shell, in a repository and a HOME of its own. */
import { expect, test } from "bun:test";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../ground/repository.ts";
import { cliWorld, MAIN, makeRepo } from "./cli-bed.ts";

const UUID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;

interface Line {
  typed: string;
  /** What the guide shows below it; empty if it shows nothing. */
  shown: string;
}

function exampleOf(heading: string): Line[] {
  const guide = readFileSync(join(root, "docs/cli.md"), "utf8");
  const block = guide.slice(guide.indexOf(`\n## ${heading}\n`)).match(/^```\n(.*?)^```$/ms)?.[1] ?? "";
  return block.split(/^\$ /m).flatMap((part) => {
    const [typed = "", ...shown] = part.split("\n");
    return typed === "" ? [] : [{ typed, shown: shown.join("\n").trim() }];
  });
}

/** Without what differs each time: ids, commits, times and the data folder. */
function general(text: string, data: string): string {
  return text
    .trim()
    .replaceAll(data, "<home>/.opencode/plugins/background-agent")
    .replaceAll(UUID, "<uuid>")
    .replaceAll(/\b[0-9a-f]{12}\b/g, "<commit>")
    .replaceAll(/\b[0-9a-f]{8}\b/g, "<id>")
    .replaceAll(/\S+Z \(\S+ ago\)/g, "<time>");
}

test("the example of the board works as typed, and shows what the guide shows", async () => {
  const world = cliWorld();
  const repo = makeRepo(join(world.work, "shop"));
  const programs = join(world.folder, "programs");
  mkdirSync(programs);
  const program = (name: string, line: string) =>
    writeFileSync(join(programs, name), `#!/bin/sh\n${line}\n`, { mode: 0o755 });
  program("asyncagents", `exec '${process.execPath}' '${MAIN}' "$@"`);
  program("less", "exec cat");
  await world.cli("up");
  const lines = exampleOf("The board");
  expect(lines.length).toBeGreaterThan(6);
  const ids = new Map<string, string>();
  for (const { typed, shown } of lines) {
    const line = [...ids].reduce((text, [inGuide, real]) => text.replaceAll(inGuide, real), typed);
    const child = Bun.spawn(["sh", "-c", `${line} 2>&1`], {
      cwd: repo,
      env: { ...world.environment, PATH: `${programs}:${world.environment.PATH}` },
      stdout: "pipe",
    });
    const said = await new Response(child.stdout).text();
    expect([typed, await child.exited, said]).toEqual([typed, 0, said]);
    if (shown !== "") expect(general(said, world.data)).toBe(general(shown, world.data));
    const real = said.match(UUID) ?? [];
    for (const [at, id] of (shown.match(UUID) ?? []).entries()) ids.set(id.slice(0, 8), real[at]?.slice(0, 8) ?? "");
    if (typed.includes("attempt diff")) expect(said).toContain("+pears 3");
  }
  expect(readFileSync(join(repo, "prices.md"), "utf8")).toBe("apples 2, pears 3\n");
}, 60_000);
