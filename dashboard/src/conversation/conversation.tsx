/**
 * The conversation of a task, oldest first. A live one opens at its newest message and is followed; earlier messages
 * load when the reader scrolls up to them. Jumps load what they need.
 */
import { type RefObject, useLayoutEffect } from "react";
import { Button } from "../parts/button.tsx";
import { FailureNote } from "../parts/failure-note.tsx";
import type { ReadingPlace } from "../reading/reading-place.ts";
import { ConversationBar } from "./conversation-bar.tsx";
import { MessageList } from "./message-list.tsx";
import { useConversation } from "./use-conversation.ts";

interface ConversationProps {
  id: string;
  isTaskLive: boolean;
  scroller: RefObject<HTMLElement | null>;
  /** Null until the page is rendered. */
  place: ReadingPlace | null;
  /** False if a title above it already says what it is. */
  isTitled?: boolean;
}

export function Conversation({ id, isTaskLive, scroller, place, isTitled = true }: ConversationProps) {
  const conversation = useConversation(id, isTaskLive);
  const { newest, messages, hasEarlier, earlier, loadPage } = conversation;
  useOpening(place, isTaskLive);
  const loadAndStay = () => {
    place?.hold();
    loadPage();
  };
  return (
    <section aria-label="Conversation" className="live-data flex min-w-0 flex-col gap-2">
      <ConversationBar id={id} conversation={conversation} place={place} isTitled={isTitled} />
      {newest.isPending && <p className="text-muted">Loading the conversation…</p>}
      {newest.isError && (
        <FailureNote
          title="The conversation could not be loaded"
          failure={newest.error}
          onRetry={() => void newest.refetch()}
        />
      )}
      {hasEarlier && !earlier.isError && (
        <Button className="mb-2 self-center" disabled={earlier.isPending} onClick={loadAndStay}>
          {earlier.isPending ? "Loading earlier messages…" : "Load earlier messages"}
        </Button>
      )}
      {earlier.isError && (
        <FailureNote
          title="Earlier messages could not be loaded"
          failure={earlier.error}
          onRetry={() => earlier.mutate(() => true)}
        />
      )}
      {newest.isSuccess && messages.length === 0 && <p className="text-muted">No messages yet.</p>}
      {place !== null && messages.length > 0 && (
        <MessageList messages={messages} scroller={scroller} place={place} onNearStart={loadPage} />
      )}
    </section>
  );
}

/** A live task is followed from the start; an ended one is read from the top. */
function useOpening(place: ReadingPlace | null, isTaskLive: boolean): void {
  // Decided on opening, so that it does not change when the task ends.
  useLayoutEffect(() => {
    if (isTaskLive) place?.goToEnd();
    return () => place?.release();
  }, [place]);
}
