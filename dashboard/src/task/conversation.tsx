/**
 * The conversation of a task, oldest first, with the way to what came before. Follows the newest message only for who is
 * already at the end.
 */
import { type RefObject, useRef } from "react";
import { Button } from "../parts/button.tsx";
import { CopyButton } from "../parts/copy-button.tsx";
import { FailureNote } from "../parts/failure-note.tsx";
import { readingClient } from "../server/page-client.ts";
import { conversationText } from "./conversation-text.ts";
import { Message } from "./message.tsx";
import { useConversation } from "./use-conversation.ts";
import { useSteadyScroll } from "./use-steady-scroll.ts";

interface ConversationProps {
  id: string;
  isTaskLive: boolean;
  scroller: RefObject<HTMLElement | null>;
  /** False where what stands above it says already what it is. */
  isTitled?: boolean;
}

export function Conversation({ id, isTaskLive, scroller, isTitled = true }: ConversationProps) {
  const { newest, before, earlier, loadEarlier } = useConversation(id, isTaskLive);
  const messages = newest.data?.messages ?? [];
  const section = useRef<HTMLElement>(null);
  const holdPlace = useSteadyScroll(scroller, section, messages[0]?.id);
  const loadAndStay = () => {
    holdPlace();
    loadEarlier();
  };
  const wholeText = async () => conversationText((await readingClient.logs(id)).messages);
  return (
    <section ref={section} aria-label="Conversation" className="live-data flex min-w-0 flex-col gap-4">
      <div className={`flex items-center gap-2 ${isTitled ? "justify-between" : "justify-end"}`}>
        <h2 className={isTitled ? "text-[15px] font-semibold" : "sr-only"}>Conversation</h2>
        <CopyButton label="Copy as text" text={wholeText} />
      </div>
      {newest.isPending && <p className="text-muted">Loading the conversation…</p>}
      {newest.isError && (
        <FailureNote
          title="The conversation could not be loaded"
          failure={newest.error}
          onRetry={() => void newest.refetch()}
        />
      )}
      {before !== null && (
        <Button className="self-center" disabled={earlier.isPending} onClick={loadAndStay}>
          {earlier.isPending ? "Loading…" : "Load earlier messages"}
        </Button>
      )}
      {earlier.isError && (
        <FailureNote title="Earlier messages could not be loaded" failure={earlier.error} onRetry={loadAndStay} />
      )}
      {newest.isSuccess && messages.length === 0 && <p className="text-muted">No messages yet.</p>}
      {messages.map((message) => (
        <Message key={message.id} message={message} />
      ))}
    </section>
  );
}
