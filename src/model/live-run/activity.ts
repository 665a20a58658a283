/**
 * What one run shows while it works, as a value: tool calls, tokens, signs of life, working time. Pure. The store gets
 * merged extracts of it; it ends with the process that drives the run.
 */
import type { Standing } from "../limits.ts";
import {
  addProgress,
  addTokens,
  countTool,
  fullerProgress,
  noProgress,
  type Progress,
  type Tokens,
  tokenSum,
} from "../progress.ts";
import type { Moment } from "./moment.ts";
import { isRecent, NO_IDS, type RecentIds, withRecent } from "./recent-ids.ts";

/** How many characters of a tool call are compared with those of the one before. */
const COMPARED = 10_000;
/** Of so many messages it is kept apart what they use: hosts report it while they are written, and once more. */
const MOST_MESSAGES = 200;
/** Of so many sessions it is followed whether they repeat a call. */
const MOST_SESSIONS = 200;
/** Beside an open request, a longer silence cannot be told from the wait for its answer. */
const BESIDE_MS = 60_000;

export interface Activity {
  /** The task's totals when the run began. */
  readonly before: Progress;
  /** The task's totals when the run was last prompted; what it shows since is added to them. */
  readonly base: Progress;
  /** The newest calls, which are counted once, however often they are reported. */
  readonly calls: RecentIds;
  /** The newest call of each session, and how often it was made in a row; the session that called last at the end. */
  readonly repeated: ReadonlyMap<string, RepeatedCall>;
  /** What the newest messages use; the one that was reported last at the end. */
  readonly usage: ReadonlyMap<string, Usage>;
  /** What the messages before them used. */
  readonly older: Progress;
  /** Messages whose use is part of `base` or `older`: it may be reported again. */
  readonly settled: RecentIds;
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
    calls: NO_IDS,
    repeated: new Map(),
    usage: new Map(),
    older: noProgress(0),
    settled: NO_IDS,
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
      return isRecent(activity.settled, messageId) ? seen : used(seen, messageId, { tokens, cost, isUnpriced });
    }
    case "cost.reported":
      return { ...activity, reportedCost: report.cost };
    case "tool.called":
      return called(
        { ...seen, tool: report.name, calls: withRecent(activity.calls, [report.callId]) },
        activity,
        report,
      );
  }
}

type ToolCalled = Extract<WorkReport, { type: "tool.called" }>;

/** Whether the report is the first of that call. */
export function isNewCall({ calls }: Activity, { callId }: { callId: string }): boolean {
  return !isRecent(calls, callId);
}

function called(seen: Activity, before: Activity, report: ToolCalled): Activity {
  if (!isNewCall(before, report)) return seen;
  const repeated = newestLast(before.repeated, report.sessionId, repeatedCall(before, report));
  const [longestQuiet] = repeated.keys();
  if (longestQuiet !== undefined && repeated.size > MOST_SESSIONS) repeated.delete(longestQuiet);
  return { ...seen, repeated, tools: countTool(before.tools, report.name) };
}

function used(activity: Activity, messageId: string, use: Usage): Activity {
  const usage = newestLast(activity.usage, messageId, use);
  const [oldest] = usage;
  if (oldest === undefined || usage.size <= MOST_MESSAGES) return { ...activity, usage };
  const [id, before] = oldest;
  usage.delete(id);
  const older = withUses(activity.older, [before]);
  return { ...activity, usage, older, settled: withRecent(activity.settled, [id]) };
}

function newestLast<Value>(map: ReadonlyMap<string, Value>, key: string, value: Value): Map<string, Value> {
  const next = new Map(map);
  next.delete(key);
  return next.set(key, value);
}

function withUses(progress: Progress, uses: Iterable<Usage>): Progress {
  let { tokens, cost, unpriced = 0 } = progress;
  for (const use of uses) {
    tokens = addTokens(tokens, use.tokens);
    cost += use.cost;
    if (use.isUnpriced) unpriced += tokenSum(use.tokens);
  }
  return { ...progress, tokens, cost, ...(unpriced > 0 && { unpriced }) };
}

function repeatedCall({ repeated }: Activity, { sessionId, callId, name, input }: ToolCalled): RepeatedCall {
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
  const settled = withRecent(activity.settled, activity.usage.keys());
  const none = { usage: new Map(), older: noProgress(0), tools: noProgress(0), reportedCost: null, read: null };
  return { ...activity, base, settled, ...none };
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
    repeated: mostOften(repeated.values()),
    tool,
  };
}

function mostOften(calls: Iterable<RepeatedCall>): RepeatedCall | null {
  let most: RepeatedCall | null = null;
  for (const call of calls) if (most === null || call.times > most.times) most = call;
  return most;
}

/** The task's totals so far. */
export function totalsOf(activity: Activity): Progress {
  const { base, tools, usage, older, lastUpdate, reportedCost, read } = activity;
  let own = withUses(addProgress({ ...tools, lastUpdate }, older), usage.values());
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
