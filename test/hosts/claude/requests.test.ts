/** What Claude's requests are about, as written rules and people see it. */
import { expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ClaudeRequests } from "../../../src/hosts/claude/requests.ts";
import type { HostEvent } from "../../../src/hosts/host.ts";
import { type AskedTool, rulingOn } from "../../../src/model/request-policy.ts";

async function asked(name: string, input: Record<string, unknown>, title?: string, directory = "/shop") {
  const events: HostEvent[] = [];
  const requests = new ClaudeRequests((event) => events.push(event), directory);
  const withdrawn = AbortSignal.abort();
  const answer = await requests.ask("ses", name, input, { signal: withdrawn, toolUseID: "t", ...(title && { title }) });
  return { answer, event: events.flatMap((event) => (event.type === "session.asked" ? [event] : []))[0] };
}

async function askedTool(name: string, input: Record<string, unknown>): Promise<AskedTool | undefined> {
  return (await asked(name, input)).event?.tool;
}

const decided = async (pattern: string, name: string, input: Record<string, unknown>) => {
  const request = { agent: "claude", asks: "permission", tool: await askedTool(name, input) } as const;
  return rulingOn([{ pattern, decision: "allow" }], request)?.decision ?? "ask";
};

test("a rule that allows one of Claude's own tools sees the field that says what it wants, and no other", async () => {
  expect(await decided("git *", "Bash", { command: "git status", description: "Look" })).toBe("allow");
  expect(await decided("/shop/*", "Edit", { file_path: "/shop/a", old_string: "x;", new_string: "y;" })).toBe("allow");
  expect(await decided("https://docs/*", "WebFetch", { url: "https://docs/a", prompt: "Read (all)" })).toBe("allow");
  expect(await decided("https://docs/*", "WebFetch", { url: "https://evil/a", path: "https://docs/a" })).toBe("ask");
  expect(await decided("/shop/*", "Bash", { command: "rm x", file_path: "/shop/a" })).toBe("ask");
  expect(await decided("/shop/*", "Glob", { path: "/shop/src", pattern: "/etc/*" })).toBe("ask");
});

test("of a tool that is not known, everything that it is given must fit", async () => {
  expect(await decided("/shop/*", "mcp__files__read", { path: "/shop/a" })).toBe("allow");
  expect(await decided("/shop/*", "mcp__files__copy", { path: "/shop/a", to: "/shop/b" })).toBe("allow");
  expect(await decided("/shop/*", "mcp__files__copy", { path: "/shop/a", to: "/etc/profile" })).toBe("ask");
  expect(await decided("git *", "mcp__shell__run", { command: "git status", args: ["; rm x"] })).toBe("ask");
  expect(await decided("*", "constructor", {})).toBe("allow");
  expect(await decided("x*", "constructor", {})).toBe("ask");
});

test("a command that gets more than a rule allows does not fit it: outside the sandbox, elsewhere, or unknown", async () => {
  const on = (more: object) => decided("npm test", "Bash", { command: "npm test", ...more });
  const said = { description: "Runs the tests", timeout: 60_000, run_in_background: true };
  for (const same of [{}, said, { dangerouslyDisableSandbox: false }, { cwd: "/shop" }, { shell: null }])
    expect([same, await on(same)]).toEqual([same, "allow"]);
  for (const more of [
    { dangerouslyDisableSandbox: true },
    { dangerouslyDisableSandbox: "true" },
    { ...said, sandbox: false },
    { cwd: "/shop/vendor" },
    { env: { NODE_OPTIONS: "--require ./x" } },
    { args: ["; rm x"] },
    { description: { command: "rm x" } },
    { anything: 1 },
  ])
    expect([more, await on(more)]).toEqual([more, "ask"]);
  expect(await decided("true", "Bash", { command: "true", dangerouslyDisableSandbox: true })).toBe("ask");
});

test("whoever allows something sees everything that the tool gets, whatever its title says", async () => {
  const shown = async (...given: Parameters<typeof asked>) => (await asked(...given)).event?.text;
  const command = "npm test";
  const title = "Claude wants to run npm test";
  expect(await shown("Bash", { command, dangerouslyDisableSandbox: true }, title)).toBe(
    `npm test (${title}) {"dangerouslyDisableSandbox":true}`,
  );
  expect(await shown("Bash", { command: "npm test; rm x" }, title)).toBe(`npm test; rm x (${title})`);
  expect(await shown("Bash", { command, description: "Tests" })).toBe('npm test (Bash) {"description":"Tests"}');
  expect(await shown("Read", { file_path: "/shop/a" }, "Claude wants to read a")).toBe(
    'Claude wants to read a {"file_path":"/shop/a"}',
  );
  expect(await shown("Read", { file_path: "/shop/a" })).toBe('Read {"file_path":"/shop/a"}');
  const long = "x".repeat(50_000);
  const cut = `${"x".repeat(1000)} … (50,000 characters) … ${"x".repeat(1000)}`;
  expect(await shown("Write", { file_path: "/shop/a", content: long })).toBe(
    `Write {"file_path":"/shop/a","content":"${cut}"}`,
  );
  expect(await shown("NotebookEdit", { notebook_path: "/shop/a", new_source: long })).toContain(cut);
});

test("nobody is asked to allow a command without its end: the agent is told, and continues", async () => {
  const { answer, event } = await asked("Bash", { command: `${"true; ".repeat(10_000)}rm x` }, "Tidy up");
  expect(event).toBeUndefined();
  expect(answer).toEqual({
    behavior: "deny",
    message: expect.stringMatching(/nobody was asked: its text has 60,\d+ characters, and 32,000 can be shown\. Do it/),
    interrupt: false,
  });
});

test("a file is where its links lead, also one that is not there yet", async () => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "asyncagents-")));
  try {
    const [shop, other] = [join(root, "shop"), join(root, "other")];
    for (const folder of [join(shop, "src"), other]) mkdirSync(folder, { recursive: true });
    writeFileSync(join(other, "secret"), "");
    symlinkSync(other, join(shop, "src", "out"));
    symlinkSync(join(other, "new"), join(shop, "src", "dangling"));
    symlinkSync("dangling", join(shop, "src", "twice"));
    symlinkSync("round", join(shop, "src", "round"));
    symlinkSync("a", join(shop, "src", "inside"));
    symlinkSync(shop, join(root, "link"));
    const subjects = async (path: string, directory = shop, tool = "Write") =>
      (await asked(tool, { [tool === "Grep" ? "path" : "file_path"]: path }, undefined, directory)).event?.tool
        ?.subjects;
    const src = (name: string) => join(shop, "src", name);
    for (const path of [src("a"), src("new/b"), "src/a", src("round"), join(other, "secret")])
      expect(await subjects(path)).toEqual([path]);
    for (const [path, leadsTo] of [
      [src("out/secret"), join(other, "secret")],
      [src("out/new/b"), join(other, "new", "b")],
      [src("dangling"), join(other, "new")],
      [src("twice"), join(other, "new")],
      [src("inside"), src("a")],
      ["src/out/secret", join(other, "secret")],
    ] as const)
      expect([path, await subjects(path)]).toEqual([path, [path, leadsTo]]);
    expect(await subjects(src("out"), shop, "Grep")).toEqual([src("out"), other]);
    // The directory may be reached by a link: rules are written with its name.
    const named = join(root, "link", "src", "a");
    expect(await subjects(named, join(root, "link"))).toEqual([named]);
    expect(await subjects(join(root, "link", "src", "inside"), join(root, "link"))).toEqual([
      join(root, "link", "src", "inside"),
      named,
    ]);
    const tool = (await asked("Edit", { file_path: src("out/secret") }, undefined, shop)).event?.tool;
    const request = { agent: "claude", asks: "permission", tool } as const;
    expect(rulingOn([{ pattern: `${shop}/*`, decision: "allow" }], request)).toBeNull();
    expect(rulingOn([{ pattern: `${other}/*`, decision: "deny" }], request)?.decision).toBe("deny");
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
});

test("names of files and addresses are no commands; patterns and what nobody knows may be", async () => {
  expect(await decided("/shop/*", "Edit", { file_path: "/shop/[id]/it's.ts" })).toBe("allow");
  expect(await decided("https://docs/*", "WebFetch", { url: "https://docs/a?b" })).toBe("allow");
  expect(await decided("*src/*", "Glob", { pattern: "src/{.,x}{.,x}/secret" })).toBe("ask");
  expect(await decided("cat *", "mcp__shell__run", { command: "cat {..,x}/y" })).toBe("ask");
  expect(await decided("cat src/*", "Bash", { command: "cat src/.'.'/secret" })).toBe("ask");
});
