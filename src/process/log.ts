/**
 * Where every part of a process reports what it does: a message with details. The process decides where the lines go.
 */
export interface Log {
  info(message: string, details?: Record<string, unknown>): void;
  error(message: string, details?: Record<string, unknown>): void;
}

/** The same as single lines, where there are no details; never stdout. */
export type LineLog = (line: string) => void;
