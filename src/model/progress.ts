/**
 * The work done by a task so far: tool calls, tokens, cost. Pure arithmetic: a run's progress is added to the totals of
 * earlier runs, so that a resumed task keeps its totals. Does not know where the numbers come from.
 */

export interface Tokens {
  input: number;
  output: number;
  reasoning: number;
  cacheRead: number;
  cacheWrite: number;
}

export interface Progress {
  toolCalls: number;
  toolCallsByName: Record<string, number>;
  /** The names of the most recent tools, newest last. */
  lastTools: string[];
  /** When the host last showed activity (ms since the epoch). */
  lastUpdate: number;
  tokens: Tokens;
  cost: number;
  /** Tokens whose cost nobody knows, because their model has no price. Absent if there are none. */
  unpriced?: number;
  /** Working time in ms, without waiting for people; counted only for tasks with a budget that limits it. */
  workedMs?: number;
}

const LAST_TOOLS = 5;
const TOOL_NAMES = 100;

export function noProgress(at: number): Progress {
  return {
    toolCalls: 0,
    toolCallsByName: {},
    lastTools: [],
    lastUpdate: at,
    tokens: { input: 0, output: 0, reasoning: 0, cacheRead: 0, cacheWrite: 0 },
    cost: 0,
  };
}

/** Counts one more call of a tool. Names beyond a limit are counted as "other", to keep the record small. */
export function countTool(progress: Progress, name: string): Progress {
  const names = progress.toolCallsByName;
  const key = Object.hasOwn(names, name) || Object.keys(names).length < TOOL_NAMES ? name : "other";
  return {
    ...progress,
    toolCalls: progress.toolCalls + 1,
    toolCallsByName: { ...names, [key]: callsOf(names, key) + 1 },
    lastTools: [...progress.lastTools, name].slice(-LAST_TOOLS),
  };
}

/** The totals of earlier runs plus the progress of the current one. */
export function addProgress(before: Progress, run: Progress): Progress {
  return {
    toolCalls: before.toolCalls + run.toolCalls,
    toolCallsByName: eachName(before, run, (a, b) => a + b),
    lastTools: [...before.lastTools, ...run.lastTools].slice(-LAST_TOOLS),
    lastUpdate: Math.max(before.lastUpdate, run.lastUpdate),
    tokens: addTokens(before.tokens, run.tokens),
    cost: before.cost + run.cost,
    ...eachRare(before, run, (a, b) => a + b),
  };
}

export function addTokens(one: Tokens, other: Tokens): Tokens {
  return {
    input: one.input + other.input,
    output: one.output + other.output,
    reasoning: one.reasoning + other.reasoning,
    cacheRead: one.cacheRead + other.cacheRead,
    cacheWrite: one.cacheWrite + other.cacheWrite,
  };
}

/** The part of a task's totals that its current run added, as far as it can be told. */
export function lessProgress(totals: Progress, before: Progress): Progress {
  const less = (a: number, b: number) => Math.max(0, a - b);
  const [now, then] = [totals.tokens, before.tokens];
  return {
    toolCalls: less(totals.toolCalls, before.toolCalls),
    toolCallsByName: eachName(totals, before, less),
    lastTools: totals.toolCalls > before.toolCalls ? totals.lastTools : [],
    lastUpdate: totals.lastUpdate,
    tokens: {
      input: less(now.input, then.input),
      output: less(now.output, then.output),
      reasoning: less(now.reasoning, then.reasoning),
      cacheRead: less(now.cacheRead, then.cacheRead),
      cacheWrite: less(now.cacheWrite, then.cacheWrite),
    },
    cost: less(totals.cost, before.cost),
    ...eachRare(totals, before, less),
  };
}

export function tokenSum({ input, output, reasoning, cacheRead, cacheWrite }: Tokens): number {
  return input + output + reasoning + cacheRead + cacheWrite;
}

/** Merges two records of the same work by taking the larger of each number, since either may have missed something. */
export function fullerProgress(one: Progress, other: Progress): Progress {
  return {
    toolCalls: Math.max(one.toolCalls, other.toolCalls),
    toolCallsByName: eachName(one, other, Math.max),
    lastTools: one.toolCalls >= other.toolCalls ? one.lastTools : other.lastTools,
    lastUpdate: Math.max(one.lastUpdate, other.lastUpdate),
    tokens: {
      input: Math.max(one.tokens.input, other.tokens.input),
      output: Math.max(one.tokens.output, other.tokens.output),
      reasoning: Math.max(one.tokens.reasoning, other.tokens.reasoning),
      cacheRead: Math.max(one.tokens.cacheRead, other.tokens.cacheRead),
      cacheWrite: Math.max(one.tokens.cacheWrite, other.tokens.cacheWrite),
    },
    cost: Math.max(one.cost, other.cost),
    ...eachRare(one, other, Math.max),
  };
}

/** Most records have none of these. */
function eachRare(
  { unpriced: a = 0, workedMs: x = 0 }: Progress,
  { unpriced: b = 0, workedMs: y = 0 }: Progress,
  together: (a: number, b: number) => number,
): Pick<Progress, "unpriced" | "workedMs"> {
  const [unpriced, workedMs] = [together(a, b), together(x, y)];
  return { ...(unpriced > 0 && { unpriced }), ...(workedMs > 0 && { workedMs }) };
}

/** Combines two records of calls per tool. */
function eachName(one: Progress, other: Progress, together: (a: number, b: number) => number): Record<string, number> {
  const [a, b] = [one.toolCallsByName, other.toolCallsByName];
  const names = new Set([...Object.keys(a), ...Object.keys(b)]);
  return Object.fromEntries([...names].map((name) => [name, together(callsOf(a, name), callsOf(b, name))]));
}

/** Servers choose their tool names: one may be the name of a built-in property, such as `constructor`. */
function callsOf(names: Record<string, number>, name: string): number {
  return Object.hasOwn(names, name) ? (names[name] ?? 0) : 0;
}
