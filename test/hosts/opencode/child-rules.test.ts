import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { cachedChildRules, childRules } from "../../../src/hosts/opencode/child-rules.ts";
import { covers, overlaps } from "../../../src/hosts/opencode/patterns.ts";
import type { WireRule } from "../../../src/hosts/opencode/wire.ts";

const rule = (permission: string, action: WireRule["action"], pattern = "*"): WireRule => ({
  permission,
  pattern,
  action,
});
const FREE = [rule("*", "allow")];
const RANK = { deny: 0, ask: 1, allow: 2 };

function rulesFor(input: Partial<Parameters<typeof childRules>[0]>): WireRule[] {
  return childRules({ parentSession: [], parentAgent: FREE, childAgent: FREE, denyTools: [], ...input });
}

/** The comparison of OpenCode 1.18.33, taken from its program. */
function fits(text: string, pattern: string): boolean {
  let source = pattern
    .replaceAll("\\", "/")
    .replace(/[.+^${}()|[\]\\]/g, "\\$&")
    .replace(/\*/g, ".*")
    .replace(/\?/g, ".");
  if (source.endsWith(" .*")) source = `${source.slice(0, -3)}( .*)?`;
  return new RegExp(`^${source}$`, "s").test(text.replaceAll("\\", "/"));
}

/** OpenCode's decision: the last matching rule; without one it asks. */
function decide(rules: readonly WireRule[], permission: string, pattern = "anything"): WireRule["action"] {
  return rules.findLast((each) => fits(permission, each.permission) && fits(pattern, each.pattern))?.action ?? "ask";
}

/** Whether OpenCode hides the tool from the model. */
function isHidden(rules: readonly WireRule[], tool: string): boolean {
  const last = rules.findLast((each) => fits(tool, each.permission));
  return last?.pattern === "*" && last.action === "deny";
}

describe("the rights of a child session", () => {
  test("a parent that may do only a few things passes exactly those on", () => {
    for (const limited of [
      { parentAgent: [rule("*", "deny"), rule("read", "allow")] },
      { parentSession: [rule("*", "deny"), rule("read", "allow")] },
    ]) {
      const rules = [...FREE, ...rulesFor(limited)];
      for (const permission of ["edit", "bash", "webfetch", "external_directory", "task", "github_push", "anything"]) {
        expect([permission, decide(rules, permission), isHidden(rules, permission)]).toEqual([
          permission,
          "deny",
          true,
        ]);
      }
      expect([decide(rules, "read"), isHidden(rules, "read")]).toEqual(["allow", false]);
    }
  });

  test("the child must ask for whatever the parent must ask for", () => {
    const rules = [
      ...FREE,
      ...rulesFor({ parentAgent: [...FREE, rule("bash", "ask"), rule("bash", "allow", "ls *")] }),
    ];
    expect([decide(rules, "bash", "rm -rf x"), decide(rules, "bash", "ls src"), decide(rules, "bash", "ls")]).toEqual([
      "ask",
      "allow",
      "allow",
    ]);
    expect(decide(rules, "edit")).toBe("allow");
  });

  test("a wildcard that denies the tools of a server applies to the child", () => {
    const rules = [
      ...FREE,
      ...rulesFor({ parentAgent: [...FREE, rule("github_*", "deny"), rule("github_read", "allow")] }),
    ];
    expect([decide(rules, "github_push"), isHidden(rules, "github_push")]).toEqual(["deny", true]);
    expect([decide(rules, "github_read"), decide(rules, "other")]).toEqual(["allow", "allow"]);
  });

  test("limits of the child's own agent stay, whatever its parent may do", () => {
    const childAgent = [rule("*", "deny"), rule("grep", "allow"), rule("bash", "ask"), rule("read", "allow", "src/*")];
    const rules = [...childAgent, ...rulesFor({ parentAgent: [...FREE, rule("grep", "ask")], childAgent })];
    expect(["edit", "grep", "bash"].map((permission) => decide(rules, permission))).toEqual(["deny", "ask", "ask"]);
    expect([decide(rules, "read", "src/a.ts"), decide(rules, "read", "x")]).toEqual(["allow", "deny"]);
  });

  test("a parent without limits adds no rules, and neither does a person", () => {
    const childAgent = [rule("*", "deny"), rule("read", "allow")];
    expect([rulesFor({}), rulesFor({ childAgent })]).toEqual([[], []]);
    expect(rulesFor({ parentAgent: null, childAgent })).toEqual([]);
  });

  test("a parent with the same rules as the child adds none, however many there are", () => {
    const commands = Array.from({ length: 80 }, (_, index) =>
      rule("bash", index % 2 ? "allow" : "ask", `tool${index} *`),
    );
    const rules = [...FREE, rule("read", "ask", "*.env"), rule("read", "ask", "*.env.*"), ...commands];
    expect(rulesFor({ parentAgent: rules, childAgent: rules })).toEqual([]);
    const limited = rulesFor({
      parentAgent: rules,
      childAgent: rules,
      parentSession: [rule("bash", "deny", "git push*")],
    });
    expect(limited.length).toBeLessThanOrEqual(82);
  });

  test("a parent with an unknown agent is treated like one without rules: it must ask", () => {
    expect(decide([...FREE, ...rulesFor({ parentAgent: [] })], "bash")).toBe("ask");
  });

  test("the task tool is only for agents whose own rules mention it", () => {
    const denyTools = ["asyncagents_task"];
    expect(rulesFor({ denyTools })).toContainEqual(rule("task", "deny"));
    expect(rulesFor({ denyTools, childAgent: [...FREE, rule("task", "allow", "explore")] })).not.toContainEqual(
      rule("task", "deny"),
    );
  });

  test("denied tools come last, so that no later rule allows them", () => {
    const rules = rulesFor({ denyTools: ["asyncagents_task"], parentSession: [rule("asyncagents_task", "deny", "x")] });
    expect(rules.at(-1)).toEqual(rule("asyncagents_task", "deny"));
  });

  test("under any rules and for any call, a child may do no more than its parent or its agent", () => {
    const names = ["*", "*", "edit", "bash", "read", "github_*", "git*", "*_push", "github_push", "web?etch"];
    const patterns = [
      "*",
      "*",
      "*",
      "git *",
      "git push*",
      "*.env",
      "src/*",
      "src/*.ts",
      "rm ?",
      "/tmp/*",
      "* --force",
      "git",
    ];
    const anyRule = fc.record({
      permission: fc.constantFrom(...names),
      pattern: fc.constantFrom(...patterns),
      action: fc.constantFrom("allow" as const, "ask" as const, "deny" as const),
    });
    const anyRules = fc.array(anyRule, { maxLength: 7 });
    const tools = ["edit", "bash", "read", "github_push", "github_read", "gitlab_push", "webfetch", "x_push", "other"];
    const calls = [
      "git",
      "git push",
      "git push --force",
      "a.env",
      "src/.env",
      "src/a.ts",
      "src/a.env",
      "rm x",
      "rm xy",
      "/tmp/a.env",
      "z",
      "git src/a.env",
    ];
    fc.assert(
      fc.property(anyRules, anyRules, anyRules, (parentAgent, parentSession, childAgent) => {
        const child = [...childAgent, ...childRules({ parentAgent, parentSession, childAgent, denyTools: [] })];
        const parent = [...parentAgent, ...parentSession];
        for (const tool of tools) {
          if (isHidden(parent, tool) && !isHidden(child, tool))
            throw new Error(`${tool} is hidden from the parent only`);
          for (const call of calls) {
            const may = (rules: readonly WireRule[]) => RANK[decide(rules, tool, call)];
            if (may(child) > may(parent)) throw new Error(`${tool} "${call}": allowed more than its parent`);
            if (may(child) > may(childAgent)) throw new Error(`${tool} "${call}": allowed more than its agent`);
          }
        }
      }),
      { numRuns: Number(process.env.ASYNCAGENTS_PROPERTY_RUNS ?? 1_000) },
    );
  });

  test("patterns relate as OpenCode's comparison says", () => {
    const anyText = fc.string({ unit: fc.constantFrom("a", "b", " ", "/"), maxLength: 6 });
    const anyPattern = fc.string({ unit: fc.constantFrom("a", "b", " ", "*", "?", "/"), maxLength: 6 });
    fc.assert(
      fc.property(anyPattern, anyPattern, anyText, (one, other, text) => {
        const [inOne, inOther] = [fits(text, one), fits(text, other)];
        if (inOne && inOther) expect(overlaps(one, other)).toBe(true);
        if (inOther && !inOne) expect(covers(one, other)).toBe(false);
      }),
      { numRuns: 20_000 },
    );
    expect([covers("git *", "git"), covers("*.env.*", "*.env.example"), covers("git push*", "git *")]).toEqual([
      true,
      true,
      false,
    ]);
    expect([overlaps("git *", "rm *"), overlaps("src/*", "*.env")]).toEqual([false, true]);
  });
});

test("the cache returns only the rules of the same family", () => {
  const cached = cachedChildRules();
  const allow = [{ permission: "*", pattern: "*", action: "allow" as const }];
  const deny = [{ permission: "bash", pattern: "*", action: "deny" as const }];
  const family = { parentAgent: allow, parentSession: [], childAgent: allow, denyTools: [] };
  const stricter = { ...family, parentSession: deny };
  for (const each of [family, stricter, { ...family, parentAgent: null }, stricter, family]) {
    expect(cached(each)).toEqual(childRules(each));
  }
  expect(cached(stricter)).not.toEqual(cached(family));
});
