/**
 * What is kept of an ended run so that it can be read when its machine is gone: the conversation of a task, and the
 * diff of an attempt's task. One of each kind per task, that of the newest run. No behaviour.
 */

export type TranscriptKind = "conversation" | "diff";

export interface Transcript {
  taskId: string;
  kind: TranscriptKind;
  /** The number of the run that had ended when it was written. */
  run: number;
  /** Compressed JSON; what is in it depends on the kind. */
  content: string;
  at: number;
}

export interface TranscriptRecords {
  /** Each replaces that of an earlier run. One of an earlier run than the stored one changes nothing. */
  put(transcripts: readonly Transcript[]): Promise<void>;
  get(taskId: string, kind: TranscriptKind): Promise<Transcript | null>;
}
