/**
 * A task's whole conversation, oldest page first, though the server gives the newest first: the first pass only
 * remembers where pages begin, the second reads them again from the beginning. Holds one page at a time, however long
 * the conversation is. What is written meanwhile comes at the end.
 */
import type { Client } from "../../client/client.ts";
import type { LogMessage } from "../../protocol/conversations.ts";

const PAGE = 20;
/** Far more than a session has before it is compacted. */
const MOST_PAGES = 5_000;

export async function* conversationPages(
  client: Pick<Client, "logs">,
  id: string,
  signal: AbortSignal,
): AsyncGenerator<LogMessage[]> {
  const read = (before: string | null) => client.logs(id, { limit: PAGE, ...(before !== null && { before }) }, signal);
  const cursors: string[] = [];
  for (let before = (await read(null)).before; before !== null && cursors.length < MOST_PAGES; ) {
    cursors.push(before);
    before = (await read(before)).before;
  }
  let last: string | null = null;
  for (const cursor of cursors.toReversed()) {
    const { messages } = await read(cursor);
    last = messages.at(-1)?.id ?? last;
    yield messages;
  }
  yield await newestAfter(read, last);
}

/** Those after a message, back from the end: since the first pass, there may be more of them than a page. */
async function newestAfter(
  read: (before: string | null) => ReturnType<Client["logs"]>,
  last: string | null,
): Promise<LogMessage[]> {
  const found: LogMessage[] = [];
  let before: string | null = null;
  do {
    const page = await read(before);
    found.unshift(...page.messages);
    before = page.before;
  } while (before !== null && last !== null && !found.some(({ id }) => id === last) && found.length < MOST_PAGES);
  return found.slice(found.findIndex(({ id }) => id === last) + 1);
}
