/**
 * A task's conversation: read by this process if it can, otherwise by the instance that can, page by page. All of it by
 * default, up to a limit; earlier messages are reached through the cursor.
 */
import type { LogPage } from "../../board/remote-operations.ts";
import type { Engine } from "../../engine/engine.ts";
import { AsyncAgentsError } from "../../model/errors.ts";
import type { Task } from "../../model/task.ts";
import { isOwner } from "../../protocol/call-origin.ts";
import type { LogMessage } from "../../protocol/conversations.ts";
import type { OperationContext } from "../api-context.ts";
import { wireMessage } from "../wire.ts";
import type { StatusCall } from "./status-handler.ts";

const PAGE = 100;
/** Far more than a session has before it is compacted. */
const MAX_MESSAGES = 10_000;
/** How much of a conversation goes through the store at once, in characters, unless one message is longer. */
const REMOTE_CHARS = 500_000;

type ReadPage = (limit: number, before: string | null) => Promise<LogPage>;

export async function readLogs(context: OperationContext, call: StatusCall<"logs">): Promise<LogPage> {
  const task = await context.overview.task(call.id);
  // It waits for a runner, or ended before one began it.
  if (task.sessionId === "") return { messages: [], before: null };
  try {
    return await readLive(context, task, call);
  } catch (thrown) {
    // Its machine is gone, or out of reach.
    const isOut = AsyncAgentsError.isInstance(thrown) && /^(host_unavailable|outcome_unknown)$/.test(thrown.code);
    const kept = isOut ? await context.overview.keptConversation(task.id) : null;
    if (kept === null) throw thrown;
    return pages(readKept(kept.map(wireMessage)), call.input);
  }
}

async function readLive(context: OperationContext, task: Task, call: StatusCall<"logs">): Promise<LogPage> {
  let failure: unknown = null;
  for (const place of await context.desk.placesOfMessages(task, { mayOpen: isOwner(call.origin) })) {
    try {
      const read =
        "engine" in place ? readHere(place.engine, task.sessionId) : readThere(context, place.instance, call);
      return await pages(read, call.input);
    } catch (thrown) {
      // Another process may still be able to; a session that is gone is gone for all of them.
      if (!AsyncAgentsError.isInstance(thrown) || thrown.code === "session_gone") throw thrown;
      failure ??= thrown;
    }
  }
  throw failure ?? new AsyncAgentsError("host_unavailable", `Nobody can read the conversation of task ${task.id} now.`);
}

/** One page for another process: with fewer messages than asked for, if they are long. */
export async function readRemoteLogs(context: OperationContext, call: StatusCall<"logs">): Promise<LogPage> {
  for (let limit = call.input.limit ?? PAGE; ; limit = Math.ceil(limit / 2)) {
    const page = await readLogs(context, { ...call, input: { ...call.input, limit } });
    if (limit === 1 || JSON.stringify(page).length <= REMOTE_CHARS) return page;
  }
}

/** The cursor is the number of messages before the page. */
function readKept(messages: readonly LogMessage[]): ReadPage {
  return async (limit, before) => {
    const end = before === null ? messages.length : Math.min(Number(before) || 0, messages.length);
    const start = Math.max(0, end - limit);
    return { messages: messages.slice(start, end), before: start === 0 ? null : String(start) };
  };
}

function readHere(engine: Engine, sessionId: string): ReadPage {
  return async (limit, before) => {
    const page = await engine.messages(sessionId, { limit, before });
    return { messages: page.messages.map(wireMessage), before: page.before };
  };
}

function readThere({ remote }: OperationContext, to: Engine["instance"], { id, origin }: StatusCall<"logs">): ReadPage {
  return (limit, before) => {
    // In the form of a query string, which the schema of the operation expects.
    const input = { limit: String(limit), ...(before !== null && { before }) };
    return remote.call(to, "logs", { id, input, origin });
  };
}

async function pages(read: ReadPage, { limit, before }: StatusCall<"logs">["input"]): Promise<LogPage> {
  const found: LogMessage[][] = [];
  const wanted = limit ?? MAX_MESSAGES;
  let count = 0;
  let cursor = before ?? null;
  do {
    const page = await read(Math.min(limit ?? PAGE, wanted - count), cursor);
    found.unshift(page.messages);
    count += page.messages.length;
    cursor = page.before;
  } while (cursor !== null && count < wanted);
  return { messages: found.flat(), before: cursor };
}
