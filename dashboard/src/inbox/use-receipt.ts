/**
 * Tells the server that a person was shown a request: once for each, only while the page is visible, and only for those
 * who may answer it. A receipt that fails is no reason to disturb anybody.
 */
import { useEffect } from "react";
import type { WireInboxEntry } from "../../../src/protocol/inbox.ts";
import { control } from "../server/page-client.ts";
import { useMay } from "../session/session.ts";

const left = new Set<string>();

export function useReceipt({ id, taskId, requestId, seen }: WireInboxEntry): void {
  const isKnown = seen.includes("dashboard");
  const mayAnswer = useMay("seen");
  useEffect(() => {
    const leave = () => {
      if (taskId === null || requestId === null || isKnown || !mayAnswer || document.hidden || left.has(id)) return;
      left.add(id);
      void control((client) => client.seen(taskId, { requestId, via: "dashboard" })).catch(() => {});
    };
    leave();
    document.addEventListener("visibilitychange", leave);
    return () => document.removeEventListener("visibilitychange", leave);
  }, [id, taskId, requestId, isKnown, mayAnswer]);
}
