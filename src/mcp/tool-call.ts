/**
 * One tool call: fills in the server's directory, performs the operation, and formats the answer. A long wait is
 * split into slices, so that the client gets progress reports. Does not validate input: the board does, for all
 * doors.
 */
import type { CallToolResult } from "@modelcontextprotocol/server";
import { z } from "zod";
import { AsyncAgentsError } from "../model/errors.ts";
import { asLine } from "../model/text/foreign-text.ts";
import {
  BOARD_OPERATIONS,
  type BoardOperationName,
  type CallOperation,
  type OperationOutput,
} from "../protocol/operations.ts";
import { compactText } from "./compact-text.ts";

/** How often a waiting client gets a progress report. */
const SLICE_MS = 5_000;

export interface WaitProgress {
  /** Milliseconds waited so far, and the maximum. */
  progress: number;
  total: number;
  message: string;
}

interface ToolCall {
  call: CallOperation;
  name: BoardOperationName;
  input: Record<string, unknown>;
  /** The client's directory; null if it is not known. */
  directory: string | null;
  signal: AbortSignal;
  /** Reports progress to the client; null if it did not ask for that. */
  progress: ((progress: WaitProgress) => Promise<void>) | null;
}

type Answer = Record<string, unknown>;

export async function callTool(given: ToolCall): Promise<CallToolResult> {
  const input = withDirectory(given);
  const answer = (await operate({ ...given, input })) as Answer;
  return { content: [{ type: "text", text: compactText(answer, newMark) }], structuredContent: answer };
}

function newMark(): string {
  return crypto.randomUUID().slice(-12);
}

function withDirectory({ name, input, directory }: ToolCall): Record<string, unknown> {
  if (name === "get_context") {
    if (Object.values(input).some(isGiven)) {
      throw new AsyncAgentsError("invalid_input", "get_context takes no arguments: it is about the current directory.");
    }
    if (directory === null) throw new AsyncAgentsError("not_found", NO_DIRECTORY);
    return { directory };
  }
  const takesIt = name === "launch_task" || name === "list_executors";
  return takesIt && directory !== null && !isGiven(input.directory) ? { ...input, directory } : input;
}

/** Some clients send null for absent fields. */
function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}

const NO_DIRECTORY =
  "There is no context: this server does not know your directory. Send it as the header x-asyncagents-directory.";

async function operate({ call, name, input, signal, progress }: ToolCall): Promise<unknown> {
  // The board parses the input; the table's types are for callers whose input is known.
  const once = (given: object) => call(name, given as never, { signal });
  const total = longWait(name, input);
  if (progress === null || total === null) return once(input);
  for (let waited = 0; ; waited += SLICE_MS) {
    const slice = Math.min(SLICE_MS, total - waited);
    const answer = (await once({ ...input, wait_ms: slice })) as Answer;
    if (waited + slice >= total || isDone(answer) || signal.aborted) return answer;
    await progress({ progress: waited + slice, total, message: standing(answer) });
  }
}

/** The length of a wait that is worth splitting; null otherwise, also for one that the board will reject. */
function longWait(name: BoardOperationName, { wait_ms }: Record<string, unknown>): number | null {
  const schema = (BOARD_OPERATIONS[name].input as z.ZodObject).shape.wait_ms;
  if (schema === undefined || typeof wait_ms !== "number" || wait_ms <= SLICE_MS) return null;
  return z.safeParse(schema, wait_ms).success ? wait_ms : null;
}

/** Whether a caller that waits for an attempt waits on in this state. */
const GOES_ON: Record<OperationOutput<"get_attempt">["state"], boolean> = {
  starting: true,
  running: true,
  waiting: false,
  completed: false,
  failed: false,
  stopped: false,
  merged: false,
};

function isDone({ done, state }: Answer): boolean {
  return done === true || (typeof state === "string" && !(GOES_ON as Record<string, boolean>)[state]);
}

function standing({ state, progress, tasks }: Answer): string {
  if (!Array.isArray(tasks)) return asLine(`${state}: ${progress}`, 200);
  const live = tasks.filter(({ status }) => status === "running" || status === "resumed").length;
  return `${tasks.length - live} of ${tasks.length} ended`;
}
