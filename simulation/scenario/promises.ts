/** What the system accepted, and therefore must not lose. */
export class Promises {
  /** Tasks whose launch was answered. */
  readonly launched = new Set<string>();
  /** Resumes that were answered, as `task run`. */
  readonly resumed = new Set<string>();
  /** The prompts of follow-ups whose queueing was answered, with their attempts; each prompt is unique. */
  readonly queued = new Map<string, string>();
  /** The prompts of follow-ups that were answered with a run of their own; each prompt is unique. */
  readonly sent = new Set<string>();
  /** When the cancel of a run was accepted, by `task run`. */
  readonly cancelled = new Map<string, number>();
  /** Tasks that somebody tried to stop, in whatever way: accepted or not, it may have had an effect. */
  readonly stopped = new Set<string>();
  /** What went wrong while somebody waited for an answer, in words. */
  readonly broken: string[] = [];
  /** Attempts whose queue somebody emptied, or tried to. */
  readonly emptied = new Set<string>();
}
