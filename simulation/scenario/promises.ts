/** A launch or a resume that was answered with a run. */
export interface AcceptedRun {
  id: string;
  run: number;
  prompt: string;
}

/** Somebody stops a session, or all tasks of a parent. */
export interface Stop {
  sessionId: string;
  from: number;
  /** It has no effect on runs that begin later. Infinite while it is under way, or if its process died. */
  until: number;
}

/** Somebody queues a follow-up; it may be stored although the call fails. */
export interface Queueing {
  attempt: string;
  prompt: string;
  from: number;
  /** When it was answered; infinite if it never was. */
  until: number;
}

/** A task that somebody queues for any runner, and what it needs. */
export interface QueuedAsk {
  host: string;
  labels: readonly string[];
  /** The only machine that has its folder; null if any runner gets it. */
  machine: string | null;
  retry: number;
}

/** What the system accepted, and therefore must not lose; and what people tried, which explains what happens. */
export class Promises {
  /** Each prompt is unique. */
  readonly accepted: AcceptedRun[] = [];
  /** The prompts of follow-ups whose queueing was answered, with their attempts; each prompt is unique. */
  readonly queued = new Map<string, string>();
  readonly queueing: Queueing[] = [];
  /** The prompts of follow-ups that were answered with a run of their own; each prompt is unique. */
  readonly sent = new Set<string>();
  /** When the cancel of a run was accepted, by `task run`. */
  readonly cancelled = new Map<string, number>();
  /** Runs that somebody tried to cancel, as `task run`: accepted or not, it may have had an effect. */
  readonly stoppedRuns = new Set<string>();
  readonly stops: Stop[] = [];
  /** What somebody queued for any runner, or tried to, by its prompt; each prompt is unique. */
  readonly asked = new Map<string, QueuedAsk>();
  /** Since when somebody was told that a run is cancelled, by `task run`. */
  readonly overSince = new Map<string, number>();
  /** The prompts of resumes that were refused with the word that nothing was done. */
  readonly undone = new Set<string>();
  /** What went wrong while somebody waited for an answer, in words. */
  readonly broken: string[] = [];
  /** Attempts whose queue somebody emptied, or tried to. */
  readonly emptied = new Set<string>();
}
