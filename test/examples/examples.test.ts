import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { build } from "../../scripts/build.ts";
import { run } from "../api/consumer.ts";
import { read, root } from "../ground/repository.ts";
import { DaemonBed } from "../mcp/daemon-bed.ts";

setDefaultTimeout(60_000);

const programs = readdirSync(join(root, "examples")).filter((file) => file.endsWith(".ts"));
let bed: DaemonBed;
beforeAll(async () => {
  await build();
  bed = await DaemonBed.start();
});
afterAll(() => bed?.stop());

/** Runs an example in a folder of its own, with the daemon of this test. */
async function example(name: string, ...words: string[]): Promise<{ out: string; code: number }> {
  const command = [process.execPath, join(root, "examples", name), ...words];
  const [out, errors, code] = await run(command, bed.repository, bed.environment);
  return { out: out + errors, code };
}

describe("the examples", () => {
  test("compile", async () => {
    const tsc = join(root, "node_modules/typescript/bin/tsc");
    expect(await run([process.execPath, tsc, "--noEmit", "-p", "examples"], root)).toEqual(["", "", 0]);
  });

  test("are all in the table, and each says how to run it", () => {
    const table = read("examples/README.md");
    for (const file of programs) {
      expect(table).toContain(`(${file})`);
      if (file !== "find-server.ts") expect(read(`examples/${file}`)).toContain(`Run it: bun examples/${file}`);
    }
    expect(programs).toHaveLength(6);
  });

  test("watch-tasks prints the changes of tasks; launch-and-wait ends with the result", async () => {
    const watching = Bun.spawn([process.execPath, join(root, "examples/watch-tasks.ts")], {
      cwd: bed.repository,
      env: bed.environment,
      stdio: ["ignore", "pipe", "inherit"],
    });
    let seen = "";
    let launched: ReturnType<typeof example> | null = null;
    for await (const chunk of watching.stdout.pipeThrough(new TextDecoderStream())) {
      seen += chunk;
      // Once it has a snapshot, it misses nothing.
      launched ??= example("launch-and-wait.ts", "!say it works", "scripted");
      if (/completed {2}from a bot/.test(seen)) break;
    }
    watching.kill();
    await watching.exited;
    expect(seen).toMatch(/^\d+ tasks, \d+ of them active\n/);
    expect(await launched).toEqual({ out: "it works\n", code: 0 });
  });

  test("launch-and-wait exits with 1 when the task fails, and says why a launch is refused", async () => {
    expect(await example("launch-and-wait.ts", "!fail no power", "scripted")).toEqual({ out: "no power\n", code: 1 });
    const refused = await example("launch-and-wait.ts", "x", "no-such-host");
    expect(refused.code).toBe(1);
    expect(refused.out).toContain("host_unavailable: ");
  });

  test("claude-review awaits two agents of the real CLI", async () => {
    const { out, code } = await example("claude-review.ts");
    const lines = ["cart.ts", "shop.ts"].map((file) => `Review ${file}: completed: ${file} is fine\n`);
    expect([out, code]).toEqual([lines.join(""), 0]);
  });

  test("own-host runs a command as a task, also one that fails", async () => {
    expect(await example("own-host.ts", "echo $((6 * 7))")).toEqual({ out: "completed: 42\n", code: 0 });
    expect(await example("own-host.ts", "echo no >&2; exit 3")).toEqual({ out: "error: exit code 3: no\n", code: 0 });
  });

  test("mcp-client says in plain words why a launch is refused", async () => {
    const { out, code } = await example("mcp-client.ts", "x", "NO_SUCH");
    expect(out.split("\n")[1]).toMatch(/^There is no executor "NO_SUCH"\. Use one of /);
    expect(code).toBe(1);
  });

  test("mcp-client launches a task over MCP and waits for it", async () => {
    const { out, code } = await example("mcp-client.ts", "!say over MCP", "SCRIPTED");
    expect(out).toMatch(/^\d+ tools, such as list_projects\n/);
    expect(out).toContain("over MCP");
    expect(code).toBe(0);
  });
});
