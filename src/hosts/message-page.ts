/** A page of messages, for hosts that have all of them at hand. Pure. */
import type { MessagePage } from "./host.ts";

/** The newest ones before the cursor; none if it is unknown. */
export function pageOf<Message extends MessagePage["messages"][number]>(
  all: readonly Message[],
  { limit, before }: { limit: number; before: string | null },
): { messages: Message[]; before: string | null } {
  const cut = before === null ? all.length : all.findIndex((message) => message.id === before);
  const from = Math.max(0, cut - limit);
  const messages = all.slice(from, Math.max(0, cut));
  return { messages, before: from > 0 ? (messages[0]?.id ?? null) : null };
}
