/**
 * Announces to screen readers what any task asks for, as soon as it asks. Requests from before the page was opened
 * are not announced: the list shows them.
 */
import { useEffect, useState } from "react";
import type { BackgroundTask } from "../../../src/protocol/tasks.ts";
import type { LiveFeed } from "../live/live-feed.ts";
import { TurningPoints } from "../live/turning-points.ts";
import { visibleText } from "../wording/hidden-characters.ts";

const MAX_CHARACTERS = 300;

export function RequestAnnouncer({ feed }: { feed: LiveFeed }) {
  const [told, setTold] = useState("");
  useEffect(() => {
    const turningPoints = new TurningPoints((task) => requestOf(task)?.requestId ?? "");
    const stop = feed.listen({
      onSnapshot: ({ tasks }) => turningPoints.begin(tasks),
      onChange(_type, task) {
        const request = requestOf(task);
        if (!turningPoints.hasTurned(task) || request === null) return;
        const what = request.asks === "permission" ? "asks for a permission" : "asks a question";
        setTold(visibleText(`${task.description} ${what}: ${request.text.slice(0, MAX_CHARACTERS)}`));
      },
    });
    return () => void stop();
  }, [feed]);
  return (
    <p role="status" data-announces className="sr-only">
      {told}
    </p>
  );
}

function requestOf({ phaseDetail }: BackgroundTask) {
  return phaseDetail?.kind === "waiting" ? phaseDetail : null;
}
