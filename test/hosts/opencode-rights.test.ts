import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { childRules } from "../../src/hosts/opencode-rights.ts";
import type { WireRule } from "../../src/hosts/opencode-wire.ts";

const rule = (permission: string, action: WireRule["action"], pattern = "*"): WireRule => ({
  permission,
  pattern,
  action,
});

function rulesFor(input: Partial<Parameters<typeof childRules>[0]>): WireRule[] {
  return childRules({ parentSession: [], parentAgent: [], childAgent: [], denyTools: [], ...input });
}

/** As OpenCode decides: the last rule that fits. */
function decide(rules: readonly WireRule[], permission: string): WireRule["action"] {
  const fits = (pattern: string, value: string) => pattern === "*" || pattern === value;
  return rules.findLast((each) => fits(each.permission, permission) && each.pattern === "*")?.action ?? "ask";
}

describe("the rights of a child session", () => {
  test("deny rules and directory limits of the parent's session are handed down, and nothing that allows", () => {
    const parentSession = [
      rule("bash", "allow"),
      rule("bash", "deny", "rm *"),
      rule("external_directory", "ask"),
      rule("edit", "ask"),
    ];
    const rules = rulesFor({ parentSession });
    expect(rules).toContainEqual(rule("bash", "deny", "rm *"));
    expect(rules).toContainEqual(rule("external_directory", "ask"));
    expect(rules).not.toContainEqual(rule("bash", "allow"));
    expect(rules).not.toContainEqual(rule("edit", "ask"));
  });

  test("what the parent's agent may not do, the child may not, whatever its own agent allows", () => {
    const parentAgent = [rule("*", "allow"), rule("edit", "deny"), rule("bash", "deny", "git push*")];
    const childAgent = [rule("*", "allow"), rule("edit", "allow")];
    const rules = rulesFor({ parentAgent, childAgent });
    expect(decide([...childAgent, ...rules], "edit")).toBe("deny");
    expect(decide([...childAgent, ...rules], "bash")).toBe("allow");
    expect(rules).toContainEqual(rule("bash", "deny", "git push*"));
  });

  test("a parent's agent that is denied everything but some hands that down for what touches the machine", () => {
    const rules = rulesFor({ parentAgent: [rule("*", "deny"), rule("read", "allow")] });
    for (const permission of ["edit", "bash", "webfetch", "external_directory"]) {
      expect(decide([rule("*", "allow"), ...rules], permission)).toBe("deny");
    }
    expect(decide([rule("*", "allow"), ...rules], "read")).toBe("allow");
  });

  test("traits of the parent's kind are not handed down", () => {
    const parentAgent = [rule("question", "deny"), rule("todowrite", "deny"), rule("plan_enter", "deny")];
    const rules = rulesFor({ parentAgent, childAgent: [rule("task", "allow")] });
    expect(rules).toEqual([]);
  });

  test("the task tool is for agents whose own rules speak of it", () => {
    const denyTools = ["asyncagents_task"];
    expect(rulesFor({ denyTools })).toContainEqual(rule("task", "deny"));
    expect(rulesFor({ denyTools, childAgent: [rule("task", "allow", "explore")] })).not.toContainEqual(
      rule("task", "deny"),
    );
  });

  test("a child that may launch tasks may also use the task tool, which their launch asks for", () => {
    expect(rulesFor({})).toEqual([]);
  });

  test("denied tools come last, so that nothing gives them back", () => {
    const rules = rulesFor({ denyTools: ["asyncagents_task"], parentSession: [rule("asyncagents_task", "deny", "x")] });
    expect(rules.at(-1)).toEqual(rule("asyncagents_task", "deny"));
  });

  test("no rule that allows is ever made, and what a parent is denied stays denied", () => {
    const permissions = ["edit", "bash", "webfetch", "read", "*", "external_directory"];
    const anyRule = fc.record({
      permission: fc.constantFrom(...permissions),
      pattern: fc.constantFrom("*", "src/*"),
      action: fc.constantFrom("allow" as const, "ask" as const, "deny" as const),
    });
    const anyRules = fc.array(anyRule, { maxLength: 6 });
    fc.assert(
      fc.property(anyRules, anyRules, anyRules, (parentSession, parentAgent, childAgent) => {
        const rules = childRules({ parentSession, parentAgent, childAgent, denyTools: [] });
        const allowed = rules.filter((each) => each.action === "allow");
        expect(allowed.filter((each) => each.permission !== "external_directory")).toEqual([]);
        for (const permission of ["edit", "bash", "webfetch"]) {
          if (decide(parentAgent, permission) !== "deny") continue;
          expect(decide([...childAgent, ...rules], permission)).toBe("deny");
        }
      }),
      { numRuns: 500 },
    );
  });
});
