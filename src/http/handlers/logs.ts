/**
 * A task's conversation: read by this process if it can, otherwise fetched from the process that can. All of it by
 * default, up to a limit; earlier messages are reached through the cursor.
 */
import type { Engine } from "../../engine/engine.ts";
import { AsyncAgentsError } from "../../model/errors.ts";
import type { Message } from "../../model/message.ts";
import type { ApiContext } from "../api-context.ts";
import { replyJson } from "../reply.ts";
import { wireMessage } from "../wire.ts";
import type { StatusCall } from "./status-handler.ts";

const PAGE = 100;
/** Far more than a session has before it is compacted. */
const MAX_MESSAGES = 10_000;

type LogsQuery = StatusCall<"logs">["input"];

export async function readLogs(
  { overview, desk, peers }: ApiContext,
  { request, id, input }: StatusCall<"logs">,
): Promise<Response> {
  const task = await overview.task(id);
  let failure: unknown = null;
  for (const place of await desk.placesOfMessages(task)) {
    try {
      if ("engine" in place) return await replyLogs(place.engine, task.sessionId, input);
      return await peers.forward(place.pid, request);
    } catch (thrown) {
      // Another process may still be able to; a session that is gone is gone for all of them.
      if (!AsyncAgentsError.isInstance(thrown) || thrown.code === "session_gone") throw thrown;
      failure ??= thrown;
    }
  }
  throw failure ?? new AsyncAgentsError("host_unavailable", `Nobody can read the conversation of task ${task.id} now.`);
}

async function replyLogs(engine: Engine, sessionId: string, query: LogsQuery): Promise<Response> {
  const pages: Message[][] = [];
  let before = query.before ?? null;
  let count = 0;
  do {
    const page = await engine.messages(sessionId, { limit: query.limit ?? PAGE, before });
    pages.unshift(page.messages);
    count += page.messages.length;
    before = page.before;
  } while (before !== null && query.limit === undefined && count < MAX_MESSAGES);
  const headers: Record<string, string> = before === null ? {} : { "x-next-cursor": before };
  return replyJson(pages.flat().map(wireMessage), 200, headers);
}
