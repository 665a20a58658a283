/** Where every part of a process reports what it does: a line of text with details. Where the lines go is the caller's choice. */
export interface Log {
  info(message: string, details?: Record<string, unknown>): void;
  error(message: string, details?: Record<string, unknown>): void;
}

/** The same as single lines, where there are no details; never stdout. */
export type LineLog = (line: string) => void;
