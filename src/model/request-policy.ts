/**
 * Written rules about what agents ask: who is asked, what is allowed or denied at once, and what happens when nobody
 * answers in time. The first rule that fits decides; without one, a person is asked. A rule that allows is read
 * narrowly, one that denies or asks widely. Pure.
 */
import { isLike, isLikeWithout } from "./text/like.ts";

/** What a request is about, in the host's own words: a tool, and the commands, files or addresses it wants. */
export interface AskedTool {
  name: string;
  subjects: readonly string[];
  /** The subjects are files or addresses, which no shell reads. Absent where that is not known. */
  isNoCommand?: boolean;
}

export const RULE_DECISIONS = ["ask", "allow", "deny"] as const;

export interface RequestRule {
  /** The task's agent; `*` stands for any characters. Any agent when absent. */
  agent?: string | undefined;
  /** The tool; `question` for questions. Any when absent. */
  tool?: string | undefined;
  /** A command, a file, an address: as the request shows it. Any when absent. */
  pattern?: string | undefined;
  decision: (typeof RULE_DECISIONS)[number];
  /** With `ask`: how long a person has to answer, and what applies then. */
  minutes?: number | undefined;
  otherwise?: "allow" | "deny" | undefined;
  /** Told to the agent with a denial. */
  reason?: string | undefined;
}

/** What a rule says about a request. */
export interface Ruling {
  decision: "allow" | "deny";
  /** Told to the agent with a denial; to a question it is the answer. */
  reason: string;
  /** How long a person has to answer before it applies; 0 for at once. */
  afterMs: number;
}

export interface RuledRequest {
  agent: string;
  asks: "permission" | "question";
  /** Absent if the host does not say. */
  tool?: AskedTool | undefined;
}

const MINUTE_MS = 60_000;

/** Null if a person is asked, and nothing else happens. A question cannot be allowed. */
export function rulingOn(rules: readonly RequestRule[], request: RuledRequest): Ruling | null {
  const rule = rules.find((each) => fits(each, request));
  if (rule === undefined) return null;
  const decision = rule.decision === "ask" ? (rule.minutes === undefined ? undefined : rule.otherwise) : rule.decision;
  if (decision === undefined || (decision === "allow" && request.asks === "question")) return null;
  const minutes = rule.decision === "ask" ? (rule.minutes ?? 0) : 0;
  return { decision, afterMs: minutes * MINUTE_MS, reason: reasonOf(rule, minutes, request.asks) };
}

function reasonOf({ reason }: RequestRule, minutes: number, asks: RuledRequest["asks"]): string {
  const late = minutes === 0 ? "" : `Nobody answered within ${minutes} minute${minutes === 1 ? "" : "s"}.`;
  const denied = asks === "permission" ? "A policy denies this." : "A policy leaves this to you.";
  const next = asks === "permission" ? "Continue without it." : "Decide yourself, or finish without an answer.";
  return [late, denied, reason ?? next].filter((part) => part !== "").join(" ");
}

/** For what is denied or asked: to a shell, `git  push`, and one with a continued line, are `git push`. */
function plain(text: string): string {
  return text
    .replaceAll(/\\\r?\n/g, " ")
    .replaceAll(/\s+/g, " ")
    .trim();
}

function fits(rule: RequestRule, { agent, asks, tool }: RuledRequest): boolean {
  const mayAllow = rule.decision === "allow" || rule.otherwise === "allow";
  const {
    name,
    subjects,
    isNoCommand = false,
  }: AskedTool = asks === "question" ? { name: "question", subjects: [] } : (tool ?? UNKNOWN);
  if (!isLike(agent, rule.agent) || !isLike(name, rule.tool)) return false;
  if (rule.pattern === undefined || rule.pattern === "*") return true;
  const { pattern } = rule;
  if (!mayAllow) {
    return subjects.some((subject) => isLike(subject, pattern) || isLike(plain(subject), plain(pattern)));
  }
  return subjects.length > 0 && subjects.every((subject) => isCertainly(subject, pattern, isNoCommand));
}

/** A tool that the host does not name fits only rules for any tool. */
const UNKNOWN: AskedTool = { name: "", subjects: [] };

/**
 * What a shell, or the program that it starts, may not take as it is written: all but letters, digits, spaces and a few
 * signs. Quotes, braces and stars can spell `..`, a `#` hides what follows.
 */
const MEANING = /[^\p{L}\p{M}\p{N} _\-./:,+=@%]/u;
/** What no file or address that is meant well has in it. */
const CHAINING = /[;&|<>`$()\p{Cc}]/u;

/** Two dots that are not inside of a word, as they are in `main..topic`, or part of more dots. */
const UPWARDS = /(?<![\p{L}\p{N}_.])\.\.(?!\.)|(?<!\.)\.\.(?![\p{L}\p{N}_.])/u;

/**
 * For what is allowed: `*` stands only for characters that mean themselves, and a path with `..` fits only if it is
 * written out. In addresses, `%2e` is a dot.
 */
function isCertainly(text: string, pattern: string, isNoCommand: boolean): boolean {
  if (text === pattern) return true;
  if (UPWARDS.test(text.replaceAll(/%2e/gi, "."))) return false;
  return isLikeWithout(text, pattern, isNoCommand ? CHAINING : MEANING);
}
