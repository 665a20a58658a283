/**
 * What is true of a run while this process drives it, as one value, and how such a value begins. Pure data: `step`
 * (step.ts) is the only function that changes it, and returns a new value each time. Durations are measured on
 * `Moment.awake`; times that are stored and shown come from `Moment.wall`. docs/architecture.md has a picture of the
 * stages.
 */
import type { TaskEvent } from "../events.ts";
import { CANCELLED, type Verdict } from "../evidence.ts";
import type { Limits } from "../limits.ts";
import { addProgress, lessProgress, noProgress, type Progress } from "../progress.ts";
import {
  type PauseCause,
  type Pauses,
  type Phase,
  type PhaseDetail,
  type Task,
  usedBefore,
  type WaitingDetail,
} from "../task.ts";
import { type Activity, noActivity, totalsOf, workedMs } from "./activity.ts";
import type { Moment } from "./moment.ts";
import { NO_IDS, type RecentIds } from "./recent-ids.ts";
import type { Steered } from "./steering.ts";
import { noSpans, phaseBegan, type WorkSpans } from "./work-spans.ts";

/** Something that the agent asks a person. */
export type Waiting = WaitingDetail;
export type Answered = Extract<PhaseDetail, { kind: "answered" }>;

/**
 * How far a run has come. `isEndHeard`: the host reported an end before it confirmed the prompt; it is checked after
 * that.
 */
type RunStage =
  /** Until there is a free slot and a pause in launching. */
  | { name: "unstarted" }
  /** A fork's history is being cut. */
  | { name: "condensing" }
  /** The prompt was sent; the host has not answered yet. */
  | { name: "prompting"; isEndHeard: boolean }
  | DoubtfulStage
  /** The prompt was not found in time; the session is being stopped before the run is called failed. */
  | { name: "abandoning"; report: string }
  /** The prompt did not get through; only the end remains to be written. */
  | { name: "failed" }
  /**
   * `workSeenAt`: when the host last showed that it works. `idle`: a status call after that did not list the session,
   * though its messages show no end.
   */
  | { name: "working"; acceptedAt: number; workSeenAt: number; idle: IdleFinding | null }
  | PausedStage
  /**
   * Final. `lost`: another process owns the run or has ended it. `isPromptOut`: the prompt's answer is still to come.
   */
  | { name: "over"; why: "ended" | "lost"; isPromptOut: boolean };

/** Nothing is to be at work until that time on the wall clock; then the run is prompted to go on. */
export interface PausedStage {
  name: "paused";
  cause: PauseCause;
  until: number;
  /** The same on the other clock, which nobody sets: it counts if a person sets the wall clock back. */
  dueAt: number;
  /**
   * `writing`: the pause is not stored yet. `stopping`: the host is told to stop the session. `unstopped`: it is to be
   * told again. `resting`: nothing is at work. `coming`: its time has come, and it waits for its turn. `continuing`:
   * its next prompt is being stored.
   */
  state: "writing" | "stopping" | "unstopped" | "resting" | "coming" | "continuing";
  /** What its session holds has not been read since it was stopped: each poll reads it, and no turn comes before. */
  isUnread?: true;
  /** When a reading failed first. */
  unreadSince?: number;
}

/** When an idle session was inspected, and whether an answer was begun. */
interface IdleFinding {
  at: number;
  begun: boolean;
}

/** The call that sent the prompt failed without proof that it had no effect: the session is searched for the prompt. */
export interface DoubtfulStage {
  name: "doubtful";
  isEndHeard: boolean;
  problem: string;
  since: number;
  /** The pause after the current search. */
  pauseMs: number;
  /** `again`: something happened during the search, so the next one follows at once. */
  search: "running" | "again" | "paused";
  /** The time for it is over: this search decides. */
  isLast: boolean;
}

/** The host was told to stop the run, which then ends with this verdict. A later attempt replaces an earlier one. */
export interface StopAttempt {
  number: number;
  verdict: Verdict;
}

/** How the run ended, until the store has it. */
interface Ending {
  verdict: Verdict;
  progress: Progress | null;
  /** False after a write that failed: the next poll writes it again. */
  isWriting: boolean;
}

export interface LiveRun {
  readonly number: number;
  readonly limits: Limits;
  /** From 0 to 1, by the task's id: how much later than others this run begins that waits for the same time. */
  readonly stagger: number;
  /** A fork's first run: its history is cut before the prompt. */
  readonly isCondensed: boolean;
  readonly stage: RunStage;
  /** The newest phase. */
  readonly phase: Phase | null;
  /** The event that says so. `isMissing`: its write failed, and the next poll writes it again. */
  readonly phased: { event: TaskEvent; isMissing: boolean } | null;
  readonly activity: Activity;
  /** How often it was paused, as it is stored. */
  readonly pauses: Omit<Pauses, "progress"> | null;
  /** What the host keeps trying, since the last sign of work. */
  readonly retries: { since: number; count: number; reason: string } | null;
  /** What nobody has answered yet, in the order in which it was asked. */
  readonly requests: ReadonlyMap<string, Waiting>;
  /** The newest: a list of open requests that was read too early does not ask these again. */
  readonly answered: RecentIds;
  /** Requests for which the answer of a written rule is on its way to the host. */
  readonly ruling: ReadonlySet<string>;
  /** The request whose answer is recorded, until the agent shows that it went on. */
  readonly applying: string | null;
  /** When the host said that the session is idle, if it has said nothing to the contrary since. */
  readonly idleHeardAt: number | null;
  /** An error that the host reported outside of the session's messages. */
  readonly announced: string | null;
  /** The host's program ended after the prompt was sent to it. */
  readonly isHostDead: boolean;
  /** Somebody wants it cancelled. Stands until the run ends, however often the host fails to stop it. */
  readonly cancelReason: string | null;
  readonly stopping: StopAttempt | null;
  /** What the last stop was for that the host did not confirm; null if there is none. Perhaps it was obeyed. */
  readonly triedStop: Verdict | null;
  /** How many stops were attempted. */
  readonly stops: number;
  readonly ending: Ending | null;
  /** A write of its progress is scheduled. */
  readonly isSaving: boolean;
  /** What was said to it since its prompt, by the ids of the steering messages, in order. */
  readonly steering: ReadonlyMap<string, Steered>;
  /** Its task counts in budgets, as far as is known; `isTimed`: in one that limits working time. */
  readonly budgeting: { isTimed: boolean } | null;
  /** What it spent its time on, for people. */
  readonly spans: WorkSpans;
}

/** A run whose row is written and whose prompt is still to be sent. */
export function launchedRun(task: Task, limits: Limits): LiveRun {
  return {
    number: task.run.number,
    limits,
    stagger: staggerOf(task.id),
    isCondensed: task.isForked && task.run.number === 0,
    stage: { name: "unstarted" },
    phase: task.phase,
    phased: null,
    activity: noActivity(task.run.before, task.progress.lastUpdate),
    pauses: task.run.pauses,
    retries: null,
    requests: new Map(),
    answered: NO_IDS,
    ruling: new Set(),
    applying: null,
    idleHeardAt: null,
    announced: null,
    isHostDead: false,
    cancelReason: null,
    stopping: null,
    triedStop: null,
    stops: 0,
    ending: null,
    isSaving: false,
    steering: new Map(),
    budgeting: null,
    spans: phaseBegan(noSpans(), task.phase, task.run.startedAt),
  };
}

/**
 * A run that was already at work in this host when this process took it over. The time that it has worked begins anew:
 * stored times come from wall clocks, which people set and which go on while a machine sleeps.
 */
export function adoptedRun(task: Task, limits: Limits, { awake }: Moment): LiveRun {
  const run = launchedRun(task, limits);
  const waiting = task.phaseDetail?.kind === "waiting" ? task.phaseDetail : null;
  const base = usedBefore(task.run);
  const tools = lessProgress(task.progress, base);
  const activity = { ...run.activity, base, tools, acceptedAt: awake, workingSince: awake };
  return {
    ...run,
    stage: { name: "working", acceptedAt: awake, workSeenAt: awake, idle: null },
    activity: waiting === null ? activity : { ...activity, askedAt: awake },
    requests: new Map(waiting === null ? [] : [[waiting.requestId, waiting]]),
    cancelReason: task.cancelRequestedAt === null ? null : CANCELLED,
  };
}

/** The task's totals so far, with its working time if that counts. */
export function progressOf(run: LiveRun, at: Moment): Progress {
  const totals = totalsOf(run.activity);
  if (run.budgeting?.isTimed !== true) return totals;
  return addProgress(totals, { ...noProgress(0), workedMs: Math.round(workedMs(run.activity, workingUntil(run, at))) });
}

/** Now, or when it began to wait for people and was last seen at work: then its time stands still. */
export function workingUntil({ activity, requests }: LiveRun, { awake }: Moment): number {
  return requests.size > 0 ? activity.askedAt : awake;
}

/** Ids that differ little are spread as well as others. */
function staggerOf(taskId: string): number {
  let hash = 2_166_136_261;
  for (const letter of taskId) hash = Math.imul(hash ^ (letter.codePointAt(0) ?? 0), 16_777_619);
  hash = Math.imul(hash ^ (hash >>> 15), 2_246_822_507);
  return ((hash ^ (hash >>> 13)) >>> 0) / 2 ** 32;
}

export function isOver({ stage }: LiveRun): boolean {
  return stage.name === "over";
}

/** From the prompt on. What a host shows before that belongs to somebody else. */
export function isPrompted({ stage }: LiveRun): boolean {
  return stage.name !== "unstarted" && stage.name !== "condensing" && stage.name !== "over";
}

/** It is paused, and was stopped at this host: what its session does is somebody else's. */
export function isResting({ stage }: LiveRun): boolean {
  return stage.name === "paused" && ["resting", "coming", "continuing"].includes(stage.state);
}

/** Whether its session may still work for it: nobody has told the host to stop, and it has no end yet. */
export function isWanted({ stage, stopping, ending }: LiveRun): boolean {
  return stopping === null && ending === null && stage.name !== "abandoning";
}

/** The host shows that it works: a status call from before, which did not list its session, proves nothing. */
export function seenAtWork(run: LiveRun, { awake }: Moment): LiveRun {
  const { stage } = run;
  return stage.name === "working" ? { ...run, stage: { ...stage, workSeenAt: awake, idle: null } } : run;
}

/** What was asked first of that which nobody has answered. */
export function openRequest({ requests }: LiveRun): Waiting | null {
  return requests.values().next().value ?? null;
}
