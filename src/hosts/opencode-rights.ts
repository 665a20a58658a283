/**
 * The rights that a child session gets: never more than its parent's. Pure. OpenCode evaluates a session's rules after
 * its agent's, the last match wins; so what is denied here stays denied, whatever the child's agent allows.
 */
import type { WireRule } from "./opencode-wire.ts";

/** Traits of an agent's kind rather than rights over the machine; they are not handed down. */
const TRAITS = new Set(["question", "plan_enter", "plan_exit", "todoread", "todowrite", "task", "doom_loop"]);

export function childRules(input: {
  parentSession: readonly WireRule[];
  parentAgent: readonly WireRule[];
  childAgent: readonly WireRule[];
  denyTools: readonly string[];
}): WireRule[] {
  const fromSession = input.parentSession.filter(
    (rule) => rule.action === "deny" || rule.permission === "external_directory",
  );
  const names = new Set(["edit", "bash", "webfetch", "websearch", "codesearch", "external_directory"]);
  for (const rule of input.parentAgent) if (!rule.permission.includes("*")) names.add(rule.permission);
  const fromAgent: WireRule[] = [];
  for (const permission of names) {
    if (TRAITS.has(permission)) continue;
    if (effective(input.parentAgent, permission) === "deny") fromAgent.push(deny(permission));
    else
      fromAgent.push(...input.parentAgent.filter((rule) => rule.permission === permission && rule.action === "deny"));
  }
  const mayLaunch = input.denyTools.length === 0 || input.childAgent.some((rule) => rule.permission === "task");
  const ownTasks = mayLaunch ? [] : [deny("task")];
  return [...fromAgent, ...fromSession, ...ownTasks, ...input.denyTools.map(deny)];
}

/** What the rules say about a permission for any pattern. */
function effective(rules: readonly WireRule[], permission: string): WireRule["action"] | null {
  const match = rules.findLast(
    (rule) => (rule.permission === permission || rule.permission === "*") && rule.pattern === "*",
  );
  return match?.action ?? null;
}

function deny(permission: string): WireRule {
  return { permission, pattern: "*", action: "deny" };
}
