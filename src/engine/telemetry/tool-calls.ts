/**
 * The tool calls of one run, from the messages that its session shows: names, times and how they ended, never what was
 * passed or returned. Where a host gives no times, those of the messages around the call are taken. A bounded number,
 * newest first in what is read.
 */
import type { MessagePage } from "../../hosts/host.ts";
import type { Message, ToolPart } from "../../model/message.ts";
import type { Task } from "../../model/task.ts";

export interface ToolCall {
  callId: string;
  name: string;
  startedAt: number;
  endedAt: number;
  /** `unfinished`: the run ended before it did. */
  state: "completed" | "error" | "unfinished";
}

export interface RunMessages {
  calls: ToolCall[];
  /** `provider/model` of the newest answer, if it says so. */
  model: string | null;
}

export type ReadPage = (page: { limit: number; before: string | null }) => Promise<MessagePage>;

const PAGE = 50;
/** What a run did before its newest 2,000 messages is not reported. */
const MOST_PAGES = 40;
export const MOST_CALLS = 1_000;

export async function runMessages({ run }: Task, read: ReadPage): Promise<RunMessages> {
  const found: Message[] = [];
  const isIn = ({ at, endedAt }: Message) => (endedAt ?? at) >= run.startedAt;
  let before: string | null = null;
  for (let pages = 0; pages < MOST_PAGES; pages++) {
    const page = await read({ limit: PAGE, before });
    found.unshift(...page.messages.filter(isIn));
    before = page.before;
    if (before === null || page.messages.some((message) => !isIn(message))) break;
  }
  const runEnd = run.endedAt ?? run.startedAt;
  const calls = found.flatMap((message, index) => {
    const next = found[index + 1]?.at ?? runEnd;
    return message.parts.flatMap((part) => (part.type === "tool" ? [callOf(part, message, { next, runEnd })] : []));
  });
  const inRun = calls.filter(({ startedAt }) => startedAt >= run.startedAt);
  const model = found.findLast(({ role, model }) => role === "assistant" && model !== null)?.model ?? null;
  return { calls: inRun.slice(-MOST_CALLS), model };
}

/** `next`: when the message after it came. */
function callOf(part: ToolPart, { at }: Message, { next, runEnd }: { next: number; runEnd: number }): ToolCall {
  const { callId, name, state } = part;
  const isOver = state === "completed" || state === "error";
  const startedAt = part.startedAt ?? at;
  const endedAt = part.endedAt ?? (isOver ? next : runEnd);
  return { callId, name, startedAt, endedAt: Math.max(startedAt, endedAt), state: isOver ? state : "unfinished" };
}
