/** What Claude's requests are about, as written rules see it. */
import { expect, test } from "bun:test";
import { ClaudeRequests } from "../../../src/hosts/claude/requests.ts";
import type { HostEvent } from "../../../src/hosts/host.ts";
import { type AskedTool, rulingOn } from "../../../src/model/request-policy.ts";

async function askedTool(name: string, input: Record<string, unknown>): Promise<AskedTool | undefined> {
  const events: HostEvent[] = [];
  const requests = new ClaudeRequests((event) => events.push(event));
  const withdrawn = AbortSignal.abort();
  await requests.ask("ses", name, input, { signal: withdrawn, toolUseID: "t" });
  return events.flatMap((event) => (event.type === "session.asked" ? [event.tool] : []))[0];
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
