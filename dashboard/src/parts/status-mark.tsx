/**
 * A status as icon and word in its colour: the colour is never the only indication.
 */
import type { BackgroundTaskStatus } from "../../../src/protocol/tasks.ts";
import { Icon } from "./icons.tsx";

interface StatusProps {
  status: BackgroundTaskStatus;
  /** For a status that is named rather than happening. */
  isStill?: boolean;
  /** For a live task that has not started. */
  isWaiting?: boolean;
}

export function StatusIcon({ status, isStill = false, isWaiting = false }: StatusProps) {
  if (isWaiting) return <Icon name="stalled" className="text-faint" />;
  const motion = status === "running" && !isStill ? "animate-[spin_1.6s_linear_infinite]" : "";
  return <Icon name={status} className={`text-tone ${motion}`} />;
}

export function StatusMark({ status, isStill = false, isWaiting = false }: StatusProps) {
  return (
    <span data-status={status} className="inline-flex items-center gap-1.5 font-medium text-tone">
      <StatusIcon status={status} isStill={isStill} isWaiting={isWaiting} />
      {isWaiting ? "waiting" : status}
    </span>
  );
}
