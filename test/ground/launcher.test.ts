import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { root } from "./repository.ts";

// The launcher is untyped JavaScript, because it has to run before anything is installed.
const { bunCandidates, bunPackages, findBun, isAtLeast } = await import(join(root, "bin/find-bun.mjs"));
const { isInstalled } = await import(join(root, "bin/install.mjs"));

async function node(...args: string[]) {
  const child = Bun.spawn(["node", ...args], { cwd: root, stdout: "pipe", stderr: "pipe" });
  const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  return { code: await child.exited, text: out + err };
}

describe("finding Bun", () => {
  test("compares versions by number", () => {
    expect(isAtLeast("1.3.14", "1.3.14")).toBe(true);
    expect(isAtLeast("1.10.0", "1.3.14")).toBe(true);
    expect(isAtLeast("1.4.0-canary.1", "1.3.14")).toBe(true);
    expect(isAtLeast("1.3.9", "1.3.14")).toBe(false);
    expect(isAtLeast("nonsense", "1.3.14")).toBe(false);
  });

  test("knows Bun's names for platforms", () => {
    expect(bunPackages("darwin", "arm64")[0]).toBe("@oven/bun-darwin-aarch64");
    expect(bunPackages("win32", "x64")[0]).toBe("@oven/bun-windows-x64");
    expect(bunPackages("linux", "x64")).toContain("@oven/bun-linux-x64-musl");
  });

  test("prefers the dependency over the PATH", () => {
    const found: string[] = bunCandidates("/a/b", { platform: "linux", arch: "x64", path: "/usr/bin" });
    expect(found[0]).toBe("/a/b/node_modules/@oven/bun-linux-x64/bin/bun");
    expect(found).toContain("/node_modules/bun/bin/bun.exe");
    expect(found.at(-1)).toBe("/usr/bin/bun");
  });

  test("finds the one that runs this test, or a newer one", () => {
    expect(isAtLeast(findBun(root).version, "1.3.14")).toBe(true);
  });
});

describe("installing", () => {
  test("is needed if a package is missing or has another version, unless it is optional", () => {
    const lock = {
      packages: {
        "": {},
        "node_modules/a": { version: "1.0.0" },
        "node_modules/b": { version: "2.0.0", optional: true },
      },
    };
    const installed = (packages: object) => isInstalled(lock, { packages });
    expect(installed({ "node_modules/a": { version: "1.0.0" } })).toBe(true);
    expect(installed({ "node_modules/a": { version: "1.0.1" } })).toBe(false);
    expect(installed({ "node_modules/a": { version: "1.0.0" }, "node_modules/b": { version: "1.0.0" } })).toBe(false);
    expect(installed({})).toBe(false);
  });
});

describe("the launcher", () => {
  test("prints its usage", async () => {
    const { code, text } = await node("bin/launch.mjs", "nonsense");
    expect(code).toBe(1);
    expect(text).toContain("demo|test|build|check|bench|chaos|measure|mutate|release|screenshots");
  });

  test("passes on the child's exit code, and its end by a signal", async () => {
    const run = (script: string) =>
      node(
        "--input-type=module",
        "-e",
        `
        import { runChild } from "./bin/run-child.mjs";
        process.exitCode = await runChild(process.execPath, ["-e", ${JSON.stringify(script)}]);`,
      );
    expect((await run("process.exit(7)")).code).toBe(7);
    expect((await run("process.kill(process.pid, 'SIGTERM')")).code).toBe(143);
  });

  test("forwards a signal to the child", async () => {
    const child = Bun.spawn(
      [
        "node",
        "--input-type=module",
        "-e",
        `
        import { runChild } from "./bin/run-child.mjs";
        const script = "process.on('SIGTERM', () => process.exit(5)); setInterval(() => {}, 1000); console.log('up')";
        process.exitCode = await runChild(process.execPath, ["-e", script]);`,
      ],
      { cwd: root, stdin: "ignore", stdout: "pipe", stderr: "inherit" },
    );
    await child.stdout.getReader().read();
    child.kill("SIGTERM");
    expect(await child.exited).toBe(5);
  });
});
