/**
 * The log: lines in a file of the data folder, because anything printed would corrupt OpenCode's screen. It is rotated
 * when it gets large, and one older file is kept. Contains ids and error texts, no prompts and no results. Never
 * throws: a log that cannot be written must not stop the work.
 */
import { appendFile, rename, stat } from "node:fs/promises";
import type { Log } from "./log.ts";

const MAX_BYTES = 1_000_000;
const MAX_LINE = 4000;
const MAX_WAITING = 1000;

export interface FileLog extends Log {
  /** Resolves once all lines so far are in the file. */
  written(): Promise<void>;
}

export function fileLog(file: string): FileLog {
  const waiting: string[] = [];
  let writing: Promise<void> | null = null;

  async function drain(): Promise<void> {
    while (waiting.length > 0) {
      const text = waiting.splice(0).join("");
      const size = await stat(file).then(
        (found) => found.size,
        () => 0,
      );
      if (size + text.length > MAX_BYTES) await rename(file, `${file}.1`).catch(() => undefined);
      await appendFile(file, text, { mode: 0o600 }).catch(() => undefined);
    }
    writing = null;
  }

  function write(level: string, message: string, details: Record<string, unknown> = {}): void {
    if (waiting.length >= MAX_WAITING) return;
    const line = `${new Date().toISOString()} ${level} ${process.pid} ${message} ${JSON.stringify(details)}`;
    waiting.push(`${line.replaceAll("\n", " ").slice(0, MAX_LINE)}\n`);
    writing ??= drain();
  }

  return {
    info: (message, details) => write("info", message, details),
    error: (message, details) => write("error", message, details),
    written: async () => void (await writing),
  };
}
