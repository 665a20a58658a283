/**
 * The bar above a conversation, which stays in view: its name, and jumps to its first message, to the next error and
 * to its newest message.
 */
import { useState } from "react";
import type { LogMessage } from "../../../src/protocol/conversations.ts";
import { Button } from "../parts/button.tsx";
import { CopyButton } from "../parts/copy-button.tsx";
import { Icon } from "../parts/icons.tsx";
import type { ReadingPlace } from "../reading/reading-place.ts";
import { readingClient } from "../server/page-client.ts";
import { useShortcuts } from "../shell/shortcuts.ts";
import { conversationText } from "./conversation-text.ts";
import { hasError, nextError } from "./message-errors.ts";
import type { Conversation } from "./use-conversation.ts";

interface ConversationBarProps {
  id: string;
  conversation: Conversation;
  place: ReadingPlace | null;
  isTitled: boolean;
}

export function ConversationBar({ id, conversation, place, isTitled }: ConversationBarProps) {
  const { told, toFirst, toNextError, toNewest, toNeighbour } = useJumps(conversation, place);
  const wholeText = async () => conversationText((await readingClient.logs(id)).messages);
  useShortcuts({
    Home: toFirst,
    End: toNewest,
    e: toNextError,
    j: () => toNeighbour(1),
    k: () => toNeighbour(-1),
  });
  return (
    <div className="sticky top-0 z-20 -mx-1 flex flex-wrap items-center gap-x-1 bg-page px-1 py-1.5">
      <h2 className={isTitled ? "mr-auto text-[15px] font-semibold" : "sr-only"}>Conversation</h2>
      <p role="status" className={`text-xs text-muted ${isTitled ? "" : "mr-auto"}`}>
        {told}
      </p>
      <Button weight="quiet" title="First message (Home)" onClick={toFirst}>
        <Icon name="toFirst" />
        First
      </Button>
      <Button weight="quiet" title="Next error (e)" onClick={toNextError}>
        <Icon name="warning" />
        Next error
      </Button>
      <Button weight="quiet" title="Newest message (End)" onClick={toNewest}>
        <Icon name="toNewest" />
        Newest
      </Button>
      <span className="max-sm:hidden">
        <CopyButton label="Copy as text" text={wholeText} />
      </span>
    </div>
  );
}

/** The jumps, and the outcome of the last one. */
function useJumps({ messages, hasEarlier, earlier }: Conversation, place: ReadingPlace | null) {
  const [told, setTold] = useState("");
  const goTo = (message: LogMessage | undefined) => {
    if (message) {
      place?.goTo(message.id);
      place?.focus(message.id);
    }
    setTold(message ? "" : "No errors");
  };
  /** Calls back with the messages once enough are loaded. */
  const withEnough = (
    isEnough: (all: readonly LogMessage[]) => boolean,
    then: (all: readonly LogMessage[]) => void,
  ) => {
    if (!hasEarlier || isEnough(messages)) return then(messages);
    if (earlier.isPending) return;
    setTold("Loading…");
    earlier.mutate(isEnough, { onSuccess: then, onError: () => setTold("") });
  };
  return {
    told,
    toFirst: () =>
      withEnough(
        () => false,
        (all) => goTo(all[0]),
      ),
    toNextError: () => {
      const here = place?.isAtEnd ? null : (place?.key ?? null);
      const found = here === null ? undefined : nextError(messages, here);
      if (found) goTo(found);
      // After the last one it starts again with the first.
      else
        withEnough(
          () => false,
          (all) => goTo(all.find(hasError)),
        );
    },
    toNewest: () => {
      setTold("");
      place?.goToEnd();
    },
    toNeighbour: (step: 1 | -1) => {
      const at = messages.findIndex(({ id }) => id === place?.key);
      const neighbour = messages[at + step];
      if (neighbour) goTo(neighbour);
    },
  };
}
