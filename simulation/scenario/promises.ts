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
  /** When it was answered; infinite if it never was. */
  until: number;
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
  /** What went wrong while somebody waited for an answer, in words. */
  readonly broken: string[] = [];
  /** Attempts whose queue somebody emptied, or tried to. */
  readonly emptied = new Set<string>();
}
