/** Words for the entries of the audit log. */
import type { AuditPage } from "../../../src/protocol/server.ts";

const DONE: Record<string, string> = {
  launch: "launched it",
  cancel: "cancelled it",
  resume: "resumed it",
  fork: "forked it",
  tell: "told its parent again",
  answer: "answered",
  answer_question: "answered",
  create_task: "created it",
  update_task: "changed it",
  start_task_attempt: "started an attempt",
  follow_up: "sent a follow-up",
  stop_attempt: "stopped it",
  merge_attempt: "merged it",
};

/** Other operations keep their names. */
export function changeText({ operation, outcome }: AuditPage["entries"][number]): string {
  const done = DONE[operation] ?? operation;
  return outcome === "failed" ? `${done}: failed` : outcome === "started" ? `${done}: not finished` : done;
}
