/**
 * Shows the state of the event stream: invisible while it is live, prominent when the page may be out of date.
 */
import { useEffect } from "react";
import type { Connection } from "../live/live-feed.ts";
import { Icon } from "../parts/icons.tsx";

export function ConnectionBanner({ connection }: { connection: Connection }) {
  useEffect(() => {
    document.body.dataset.connection = connection.kind;
  }, [connection.kind]);
  const isLost = connection.kind === "reconnecting";
  const look = {
    live: "sr-only",
    // Usually over before a person could read it.
    connecting: "animate-[appear_1s] border-b border-line bg-raised px-4 py-2 text-muted",
    reconnecting: "border-b border-attention/30 bg-attention-soft px-4 py-2 text-attention",
  }[connection.kind];
  return (
    <div role="status" data-connection={connection.kind} className={look}>
      {isLost ? (
        <span className="flex items-center gap-2 font-medium">
          <Icon name="retrying" className="animate-[spin_2s_linear_infinite]" />
          {connection.refusal === null ? (
            <span>
              Reconnecting (attempt {connection.attempt}).{" "}
              <span className="font-normal">What you see may be out of date.</span>
            </span>
          ) : (
            <span>{connection.refusal}</span>
          )}
        </span>
      ) : (
        <span>{connection.kind === "live" ? "Live" : "Connecting…"}</span>
      )}
    </div>
  );
}

export function ConnectionDot({ connection }: { connection: Connection }) {
  const word = { live: "Live", connecting: "Connecting", reconnecting: "Offline" }[connection.kind];
  const colour = connection.kind === "live" ? "bg-completed" : "bg-attention animate-pulse";
  return (
    <span aria-hidden="true" className="hidden items-center gap-1.5 px-2 text-xs text-muted sm:inline-flex">
      <span className={`size-2 rounded-full ${colour}`} />
      {word}
    </span>
  );
}
