/**
 * Reads the output of a task. The file may appear late, and its last line after the reported end, so the output of an
 * ended task is awaited for a bounded time: then whatever exists is returned, or an error says that there is none.
 */
import { readFile } from "node:fs/promises";
import { AsyncAgentsError } from "../../model/errors.ts";
import { limitsOf, pause, type WaitOptions } from "../../process/deadline.ts";
import { TaskOutputError } from "../errors.ts";
import { parseTranscript, spokenText, type TranscriptMessage } from "./transcript.ts";

/** A task's output file, and what is known about it. */
export interface OutputSource {
  taskId: string;
  path: string | undefined;
  /** Undefined if unknown: then the content decides. */
  isAgent: boolean | undefined;
  /** If live, returns the current content without waiting for a last line. */
  isLive: boolean;
  /** A text that the output of a completed agent ends with. */
  lastText: string | undefined;
}

/** How long a file may be missing or empty. */
const PATIENCE_MS = 5_000;
/** How long the last line may be missing. */
const LAST_LINE_MS = 2_000;
const PAUSE_MS = 50;
const EXIT_LINE = /\[(exited with code|killed|terminated)[^\]\n]*\]\s*$/;

/** An agent's texts, or all that a shell printed. */
export async function readText(source: OutputSource, options: WaitOptions): Promise<string> {
  const text = await readWhole(source, options);
  const messages = source.isAgent === false ? undefined : parseTranscript(text);
  return messages ? spokenText(messages) : text;
}

/** The conversation of an agent. */
export async function readMessages(source: OutputSource, options: WaitOptions): Promise<TranscriptMessage[]> {
  const messages = source.isAgent === false ? undefined : parseTranscript(await readWhole(source, options));
  if (messages) return messages;
  const message = `Task ${source.taskId} is not an agent: it has no messages. readOutput() gives what it printed.`;
  throw new AsyncAgentsError("host_unsupported", message, { details: { taskId: source.taskId } });
}

async function readWhole(source: OutputSource, options: WaitOptions): Promise<string> {
  const { timeout = PATIENCE_MS, signal } = limitsOf(options, PATIENCE_MS);
  const { taskId, path } = source;
  if (!path) {
    const next = source.isLive ? "it is known when the task ends: wait() first" : "Claude named none";
    throw new TaskOutputError(taskId, `Task ${taskId} has no output file: ${next}.`);
  }
  const began = Date.now();
  for (;;) {
    signal?.throwIfAborted();
    const { text, failure } = await tryRead(path);
    const waited = Date.now() - began;
    if (text !== undefined && (text !== "" || source.isLive)) {
      if (isWhole(source, text) || waited >= Math.min(LAST_LINE_MS, timeout)) return text;
    } else if (waited >= timeout) {
      const what = text === "" ? "is empty" : "cannot be read";
      throw new TaskOutputError(
        taskId,
        `The output file of task ${taskId} ${what} after ${waited} ms: ${path}`,
        failure,
      );
    }
    await pause(PAUSE_MS, { signal });
  }
}

async function tryRead(path: string): Promise<{ text?: string; failure?: unknown }> {
  try {
    return { text: await readFile(path, "utf8") };
  } catch (failure) {
    return { failure };
  }
}

function isWhole(source: OutputSource, text: string): boolean {
  if (source.isLive) return true;
  const messages = source.isAgent === false ? undefined : parseTranscript(text);
  if (!messages) return EXIT_LINE.test(text);
  return source.lastText === undefined || spokenText(messages).includes(source.lastText.trim());
}
