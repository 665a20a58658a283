import { beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { cliWorld, MAIN, type Said } from "./cli-bed.ts";

const world = cliWorld();
/** The capacity of a pipe on Linux; macOS has less. */
const PIPE = 65_536;
let id = "";

/** `$CLI` is the command, `$ID` a task whose conversation is several times the capacity of a pipe. */
async function shell(script: string): Promise<Said> {
  const child = Bun.spawn(["bash", "-c", script.replaceAll("$CLI", '"$BUN" "$MAIN"')], {
    cwd: world.work,
    env: { ...world.environment, BUN: process.execPath, MAIN, ID: id },
    stdout: "pipe",
    stderr: "pipe",
  });
  const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  return { code: await child.exited, out, err };
}

beforeAll(async () => {
  const lines = Array.from({ length: 2400 }, (_, line) => `${line} `.padEnd(80, "x"));
  const stdin = `Speak\n!say ${lines.join(" ")}`;
  const said = await world.start(["run", "--host", "scripted", "--json", "--wait", "-"], { stdin }).ended;
  await world.cli("ls");
  id = JSON.parse(said.out).id;
});

describe("output", () => {
  test.each([
    ["show --json", "$CLI show --json $ID"],
    ["logs", "$CLI logs $ID"],
    ["ls --json", "$CLI ls --json"],
  ])("of %s is whole in a pipe whose reader is slow", async (_name, command) => {
    await shell(`${command} > whole.txt`);
    const whole = readFileSync(join(world.work, "whole.txt"), "utf8");
    expect(whole.length).toBeGreaterThan(command.includes("ls") ? 10_000 : 2 * PIPE);
    // The pipe is full before the command starts.
    const filled = `{ head -c ${PIPE} /dev/zero; ${command}; echo "$?" > code.txt; } | { sleep 0.4; tail -c +${PIPE + 1} > piped.txt; }`;
    await shell(filled);
    expect(readFileSync(join(world.work, "piped.txt"), "utf8")).toBe(whole);
    expect(readFileSync(join(world.work, "code.txt"), "utf8")).toBe("0\n");
  });

  test("on stderr is complete too, when the command fails", async () => {
    const { out, err } = await shell(`$CLI`);
    expect([out, err.length > 1000]).toEqual(["", true]);
    const filled = `{ head -c ${PIPE} /dev/zero >&2; $CLI; echo "$?" > code.txt; } 2>&1 >/dev/null | { sleep 0.4; tail -c +${PIPE + 1}; }`;
    expect((await shell(filled)).out).toBe(err);
    expect(readFileSync(join(world.work, "code.txt"), "utf8")).toBe("2\n");
  });

  test("whose reader stops reading ends the command quietly, with the exit code git has then", async () => {
    const closed = await shell(`$CLI logs $ID | head -c 10 > /dev/null; echo "\${PIPESTATUS[0]}"`);
    expect(closed).toMatchObject({ out: "141\n", err: "" });
    // Unread hints block nothing.
    expect(await shell(`{ $CLI ls --limit 1 | cat; } 2> >(true)`)).toMatchObject({ code: 0, err: "" });
  });

  test("that cannot be written is a failure with its reason", async () => {
    const full = await shell(`$CLI ls > /dev/full`);
    expect(full).toMatchObject({ code: 1, err: expect.stringContaining("The output could not be written: ENOSPC") });
    const json = await shell(`$CLI show --json $ID > /dev/full`);
    expect(json.code).toBe(1);
    expect(JSON.parse(json.err)).toMatchObject({ error: { message: expect.stringContaining("ENOSPC") } });
    expect((await shell(`$CLI run --host scripted Anything 2> /dev/full`)).code).toBe(1);
    expect((await shell(`$CLI show none 2> /dev/full`)).code).toBe(3);
  });

  test("on stdout and stderr keeps its order", async () => {
    const { out } = await shell(`$CLI run --host scripted Anything 2>&1`);
    expect(out).toMatch(/^ses_\w+\n"Anything" is running\./);
  });
});
