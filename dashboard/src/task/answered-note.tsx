/**
 * Replaces a form that someone else answered: the request, the answer and where it came from, until the reader
 * dismisses it. Also says if the reader's own answer came too late. It does not say who answered: people have no
 * names here.
 */

import { givenText } from "../../../src/model/answer.ts";
import type { BackgroundTask } from "../../../src/protocol/tasks.ts";
import { Button } from "../parts/button.tsx";
import { FailureNote } from "../parts/failure-note.tsx";
import { ForeignText } from "../parts/foreign-text.tsx";
import { Icon } from "../parts/icons.tsx";
import { Ago } from "../parts/times.tsx";
import { codeOf } from "../server/failure.ts";

interface AnsweredNoteProps {
  task: BackgroundTask;
  request: { requestId: string; text: string };
  /** Why the reader's own answer did not count. */
  lost: unknown;
  onDismiss: () => void;
}

export function AnsweredNote({ task, request, lost, onDismiss }: AnsweredNoteProps) {
  const { phaseDetail: detail } = task;
  const answered = detail?.kind === "answered" && detail.requestId === request.requestId ? detail : null;
  const isLate = codeOf(lost) === "nothing_asked";
  return (
    <section
      role="status"
      aria-label="The request is closed"
      data-answered={answered?.reply ?? "unknown"}
      className="sticky bottom-3 z-20 flex min-w-0 flex-col gap-2 rounded-lg border border-line bg-raised px-4 py-3 shadow-[0_8px_30px_rgb(0_0_0/0.25)]"
    >
      <div className="flex min-w-0 items-start gap-2">
        <Icon name={answered ? "completed" : "waiting"} className="mt-0.5 text-muted" />
        <p className="min-w-0 flex-1 font-medium">
          {answered ? (
            <>
              {isLate ? "Your answer came too late: already" : "Already"} {givenText(answered)},{" "}
              <Ago at={answered.at} />
            </>
          ) : (
            "This request is no longer open: somebody answered elsewhere, or it was withdrawn."
          )}
        </p>
        <Button weight="quiet" className="-my-1 -mr-2" onClick={onDismiss}>
          Dismiss
        </Button>
      </div>
      <p className="foreign line-clamp-2 font-mono text-xs text-muted">
        <ForeignText text={request.text} />
      </p>
      {lost !== null && !(isLate && answered) && (
        <FailureNote title={isLate ? "Your answer came too late" : "Your answer was not delivered"} failure={lost} />
      )}
    </section>
  );
}
