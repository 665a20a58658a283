/**
 * Computes the permission rules of a child session: each call gets the stricter of what its parent and its own agent
 * may do. Pure. OpenCode reads an agent's rules, then its session's; the last matching rule wins, and without one it
 * asks. Patterns that partly overlap have no exact intersection: there the child gets less than it could have, never
 * more.
 */
import { covers, overlaps } from "./patterns.ts";
import type { WireRule } from "./wire.ts";

type Action = WireRule["action"];
/** What the rules say about one permission. The last matching pattern wins; the first one matches everything. */
type Decisions = readonly { pattern: string; action: Action }[];

const STRICTNESS: Record<Action, number> = { deny: 0, ask: 1, allow: 2 };
const NO_LIMITS: WireRule = { permission: "*", pattern: "*", action: "allow" };

interface ChildRulesInput {
  /** Null if a person launches: a person has all rights. */
  parentAgent: readonly WireRule[] | null;
  parentSession: readonly WireRule[];
  childAgent: readonly WireRule[];
  denyTools: readonly string[];
}

const KEPT_FAMILIES = 50;

/** `childRules` with a cache: comparing all patterns takes milliseconds, and many launches have the same rules. */
export function cachedChildRules(): typeof childRules {
  const known = new Map<string, WireRule[]>();
  return (family) => {
    const key = JSON.stringify(family);
    const rules = known.get(key) ?? childRules(family);
    known.set(key, rules);
    if (known.size > KEPT_FAMILIES) known.delete(known.keys().next().value ?? key);
    return rules;
  };
}

export function childRules(input: ChildRulesInput): WireRule[] {
  const parent = [...(input.parentAgent ?? [NO_LIMITS]), ...input.parentSession];
  const mayLaunch = input.denyTools.length === 0 || input.childAgent.some((rule) => rule.permission === "task");
  const ownTasks = mayLaunch ? [] : [deny("task")];
  return [...limits(parent, input.childAgent), ...ownTasks, ...input.denyTools.map(deny)];
}

/**
 * Rules that, appended to the child's own, allow only what both may do. Each permission gets its own block of rules.
 */
function limits(parent: readonly WireRule[], child: readonly WireRule[]): WireRule[] {
  const written: WireRule[] = [];
  for (const permission of permissionsOf([...parent, ...child])) {
    const own = decisionsOn(child, permission);
    const both = stricter(decisionsOn(parent, permission), own);
    const stands =
      isSame(both, own) &&
      (!isDenied(both) || hides(child, permission)) &&
      !child.some((rule) => concernsSome(rule, permission)) &&
      !written.some((rule) => overlaps(rule.permission, permission));
    if (!stands) written.push(...both.map((decision) => ({ permission, ...decision })));
  }
  return written;
}

function isDenied(decisions: Decisions): boolean {
  return decisions.length === 1 && decisions[0]?.action === "deny";
}

/**
 * A tool is hidden if the last rule about it denies everything. For a tool that never asks, such as a plugin's, this is
 * the only limit.
 */
function hides(rules: readonly WireRule[], permission: string): boolean {
  const last = rules.findLast((rule) => covers(rule.permission, permission));
  return last?.pattern === "*" && last.action === "deny";
}

/** Every permission that the rules name, wider ones first, so that the block of a narrower one is read last. */
function permissionsOf(rules: readonly WireRule[]): string[] {
  const names = [...new Set(["*", ...rules.map((rule) => rule.permission)])];
  const width = (name: string) => names.filter((other) => other !== name && covers(name, other)).length;
  return names
    .map((name) => ({ name, width: width(name) }))
    .toSorted((one, other) => other.width - one.width)
    .map(({ name }) => name);
}

/** What the rules say about a permission, which may itself be a pattern. */
function decisionsOn(rules: readonly WireRule[], permission: string): Decisions {
  const found: { pattern: string; action: Action }[] = [{ pattern: "*", action: "ask" }];
  for (const { permission: named, pattern, action } of rules) {
    if (covers(named, permission)) found.push({ pattern, action });
    else if (concernsSome({ permission: named, pattern, action }, permission)) found.push({ pattern, action: "deny" });
  }
  return withoutIdle(found);
}

/**
 * Whether a rule limits part of what the permission pattern covers. That part cannot be separated; a narrower
 * permission has its own block.
 */
function concernsSome(rule: WireRule, permission: string): boolean {
  if (rule.action === "allow" || covers(rule.permission, permission) || covers(permission, rule.permission))
    return false;
  return overlaps(rule.permission, permission);
}

/**
 * The stricter action for each pair of patterns, in the order of the parent's patterns, so that the last one still
 * wins.
 */
function stricter(parent: Decisions, child: Decisions): Decisions {
  if (isSame(parent, child)) return child;
  const found: { pattern: string; action: Action }[] = [];
  for (const mine of parent) {
    for (const its of child) {
      const action = STRICTNESS[mine.action] < STRICTNESS[its.action] ? mine.action : its.action;
      if (covers(mine.pattern, its.pattern)) found.push({ pattern: its.pattern, action });
      else if (covers(its.pattern, mine.pattern)) found.push({ pattern: mine.pattern, action });
      else if (action !== "allow" && overlaps(mine.pattern, its.pattern)) {
        // This pattern matches more than both do: it may tighten, but must not lift an earlier denial.
        const isLifted = found.some((each) => each.action === "deny" && overlaps(each.pattern, its.pattern));
        found.push({ pattern: its.pattern, action: isLifted ? "deny" : action });
      }
    }
  }
  return withoutIdle(found);
}

/** Removes rules that never decide: those covered by a later pattern, and those that repeat earlier ones. */
function withoutIdle(decisions: Decisions): Decisions {
  const heard = decisions.filter(
    ({ pattern }, index) => !decisions.slice(index + 1).some((later) => covers(later.pattern, pattern)),
  );
  const kept: { pattern: string; action: Action }[] = [];
  for (const decision of heard) {
    const before = kept.findLast(({ pattern }) => overlaps(pattern, decision.pattern));
    const repeats = before?.action === decision.action && covers(before.pattern, decision.pattern);
    if (!repeats) kept.push(decision);
  }
  return kept;
}

function isSame(one: Decisions, other: Decisions): boolean {
  return (
    one.length === other.length &&
    one.every(({ pattern, action }, index) => pattern === other[index]?.pattern && action === other[index]?.action)
  );
}

function deny(permission: string): WireRule {
  return { permission, pattern: "*", action: "deny" };
}
