/**
 * What one run shows while it works, as a value: tool calls, tokens, signs of life, working time. Pure. The store gets
 * merged extracts of it; it ends with the process that drives the run.
 */
import type { Standing } from "../limits.ts";
import {
  addProgress,
  countTool,
  fullerProgress,
  noProgress,
  type Progress,
  type Tokens,
  tokenSum,
} from "../progress.ts";
import type { Moment } from "./moment.ts";

/** How many characters of a tool call are compared with those of the one before. */
const COMPARED = 10_000;
/** Beside an open request, a longer silence cannot be told from the wait for its answer. */
const BESIDE_MS = 60_000;

export interface Activity {
  /** The task's totals when the run began. */
  readonly before: Progress;
  /** The task's totals when the run was last prompted; what it shows since is added to them. */
  readonly base: Progress;
  readonly calls: ReadonlySet<string>;
  /** The newest call of each session, and how often it was made in a row. */
  readonly repeated: ReadonlyMap<string, RepeatedCall>;
  readonly usage: ReadonlyMap<string, Usage>;
  /** Messages whose use is part of `base`: it may be reported again. */
  readonly settled: ReadonlySet<string>;
  /** Tool calls, and for a run that was taken over what it had used until then. */
  readonly tools: Progress;
  /** What its newest prompt cost in all, once its host says so: the costs of its messages were estimates. */
  readonly reportedCost: number | null;
  /** What its messages since then show, where that was read: events may come later. */
  readonly read: Progress | null;
  /** The tool that was called last, if nothing was written since. */
  readonly tool: string | null;
  /** When the host accepted the prompt. */
  readonly acceptedAt: number | null;
  /** Since when it works; moved on by the time that it waited for people. Null until a prompt is accepted. */
  readonly workingSince: number | null;
  /** How long it had worked when it was last paused, in ms. */
  readonly workedBefore: number;
  /** When it began to wait for people, or last worked beside that. */
  readonly askedAt: number;
  /** When something was last seen of it, or it resumed its work. */
  readonly seenAt: number;
  /** The last sign of work on the wall clock, as it is stored. */
  readonly lastUpdate: number;
}

interface RepeatedCall {
  call: string;
  tool: string;
  times: number;
}

interface Usage {
  tokens: Tokens;
  cost: number;
  /** Its model has no known price. */
  isUnpriced?: boolean;
}

/** What a session reports while it works. A call or a message may be reported more than once. */
export type WorkReport =
  | { type: "tool.called"; sessionId: string; callId: string; name: string; input: unknown }
  | { type: "tool.ended"; callId: string; isFailed: boolean }
  | ({ type: "usage.counted"; messageId: string } & Usage)
  /** What the run has cost in all. */
  | { type: "cost.reported"; cost: number }
  | { type: "text.written" };

export function noActivity(before: Progress, lastUpdate: number): Activity {
  return {
    before,
    base: before,
    calls: new Set(),
    repeated: new Map(),
    usage: new Map(),
    settled: new Set(),
    tools: noProgress(0),
    reportedCost: null,
    read: null,
    tool: null,
    acceptedAt: null,
    workingSince: null,
    workedBefore: 0,
    askedAt: 0,
    seenAt: 0,
    lastUpdate,
  };
}

export function counted(activity: Activity, report: WorkReport, { awake, wall }: Moment): Activity {
  const seen = { ...activity, lastUpdate: wall, seenAt: awake };
  switch (report.type) {
    case "text.written":
      return { ...seen, tool: null };
    case "tool.ended":
      return seen;
    case "usage.counted": {
      const { messageId, tokens, cost, isUnpriced = false } = report;
      if (activity.settled.has(messageId)) return seen;
      return { ...seen, usage: new Map(activity.usage).set(messageId, { tokens, cost, isUnpriced }) };
    }
    case "cost.reported":
      return { ...activity, reportedCost: report.cost };
    case "tool.called":
      if (activity.calls.has(report.callId)) return { ...seen, tool: report.name };
      return {
        ...seen,
        tool: report.name,
        calls: new Set(activity.calls).add(report.callId),
        repeated: new Map(activity.repeated).set(report.sessionId, repeatedCall(activity, report)),
        tools: countTool(activity.tools, report.name),
      };
  }
}

function repeatedCall(
  { repeated }: Activity,
  { sessionId, callId, name, input }: Extract<WorkReport, { type: "tool.called" }>,
): RepeatedCall {
  const call = `${name} ${textOf(input) ?? callId}`.slice(0, COMPARED);
  const before = repeated.get(sessionId);
  return { call, tool: name, times: before?.call === call ? before.times + 1 : 1 };
}

/** The host accepted the prompt: the first one, or one after a pause. */
export function accepted(activity: Activity, { awake }: Moment): Activity {
  return { ...activity, acceptedAt: awake, workingSince: awake };
}

/** Nothing is at work until the next prompt. `until`: when it stopped working. */
export function paused(activity: Activity, until: number): Activity {
  const worked = { workedBefore: workedMs(activity, until), workingSince: null };
  return { ...basedOn(activity, totalsOf(activity)), ...worked, tool: null };
}

/** With these totals; what is counted from now on is added to them. */
export function basedOn(activity: Activity, base: Progress): Activity {
  const settled = new Set([...activity.settled, ...activity.usage.keys()]);
  return { ...activity, base, settled, usage: new Map(), tools: noProgress(0), reportedCost: null, read: null };
}

/** How long it has worked in this process. */
export function workedMs({ workedBefore, workingSince }: Activity, until: number): number {
  return workedBefore + (workingSince === null ? 0 : Math.max(0, until - workingSince));
}

/** The time until now was a person's, and does not count as work. */
export function unblocked(activity: Activity, { awake }: Moment): Activity {
  const { workingSince, askedAt } = activity;
  if (workingSince === null) return activity;
  return { ...activity, workingSince: workingSince + awake - Math.max(askedAt, workingSince) };
}

/**
 * It shows work beside an open request: only the time after that is a person's. Of a longer silence before, all but a
 * minute was a person's, too: this may be the first sign of work after an answer that is not heard of yet.
 */
export function workedBeside(activity: Activity, at: Moment): Activity {
  const silent = { ...activity, askedAt: Math.min(activity.askedAt + BESIDE_MS, at.awake) };
  return { ...unblocked(silent, at), askedAt: at.awake };
}

/** How the run compares with its limits; null while no prompt of it is accepted. */
export function standingOf(activity: Activity, { awake }: Moment): Standing | null {
  const { workingSince, acceptedAt, seenAt, repeated, before, tool } = activity;
  if (workingSince === null) return null;
  return {
    workedMs: workedMs(activity, awake),
    quietMs: awake - Math.max(acceptedAt ?? 0, seenAt),
    cost: totalsOf(activity).cost - before.cost,
    repeated: [...repeated.values()].sort((one, other) => other.times - one.times)[0] ?? null,
    tool,
  };
}

/** The task's totals so far. */
export function totalsOf(activity: Activity): Progress {
  const { base, tools, usage, lastUpdate, reportedCost, read } = activity;
  let own: Progress = { ...tools, lastUpdate };
  for (const { tokens, cost, isUnpriced } of usage.values()) {
    own = addProgress(own, { ...noProgress(0), tokens, cost, ...(isUnpriced && { unpriced: tokenSum(tokens) }) });
  }
  if (read !== null) own = fullerProgress(own, read);
  if (reportedCost !== null) {
    const { unpriced: _known, ...rest } = own;
    own = { ...rest, cost: tools.cost + reportedCost };
  }
  return addProgress(base, own);
}

/** Null for what cannot be serialized, and so cannot be compared. */
function textOf(input: unknown): string | null {
  try {
    return JSON.stringify(input) ?? null;
  } catch {
    return null;
  }
}
