import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { KNOWN_AGENTS } from "../../src/hosts/acp/agents/known-agents.ts";
import { root } from "./repository.ts";

test("docs/acp.md lists the tested agents as `asyncagents agents` does, with the same limits", () => {
  const lines = readFileSync(join(root, "docs", "acp.md"), "utf8").split("\n");
  const rows = lines.filter((line) => line.startsWith("| ")).map((line) => line.split("|").map((cell) => cell.trim()));
  const tested = Object.entries(KNOWN_AGENTS).filter(([, agent]) => agent.tested !== undefined);
  const listed = rows.filter(([, name = ""]) => Object.hasOwn(KNOWN_AGENTS, name));
  expect(listed.map(([, name, from, version, , limits]) => [name, from, version, limits])).toEqual(
    tested.map(([name, agent]) => [name, `\`${agent.package}\``, agent.tested, (agent.limits ?? []).join("; ")]),
  );
});
