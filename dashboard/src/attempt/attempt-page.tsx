/**
 * One attempt: its state, its open request, its conversation and changes, and the actions on it.
 */

import { type RefObject, useRef, useState } from "react";
import { NotLoaded } from "../board/not-loaded.tsx";
import { Conversation } from "../conversation/conversation.tsx";
import { DiffView } from "../diff/diff-view.tsx";
import { useReadingPlace } from "../reading/use-reading-place.ts";
import { navigate } from "../routing/location.ts";
import { type AttemptTab, attemptPath } from "../routing/route.ts";
import { useAttempt, useHandle } from "../server/board-queries.ts";
import type { Attempt } from "../server/operate.ts";
import { useTaskIfKnown } from "../server/queries.ts";
import { Allowed } from "../session/allowed.tsx";
import { AnswerBox } from "../task/answer-box.tsx";
import { isAtWork } from "../wording/attempts.ts";
import { isLive } from "../wording/statuses.ts";
import { AttemptDetails } from "./attempt-details.tsx";
import { AttemptHeader } from "./attempt-header.tsx";
import { AttemptOutcome } from "./attempt-outcome.tsx";
import { AttemptTabs, tabPanelId } from "./attempt-tabs.tsx";
import { AttemptWarnings } from "./attempt-warnings.tsx";
import { FollowUpForm } from "./follow-up-form.tsx";

interface AttemptPageProps {
  id: string;
  tab: AttemptTab | null;
  scroller: RefObject<HTMLElement | null>;
}

export function AttemptPage({ id, tab, scroller }: AttemptPageProps) {
  const query = useAttempt(id);
  const { data: attempt } = query;
  if (attempt) return <LoadedAttempt key={id} attempt={attempt} tab={tab} scroller={scroller} />;
  return <NotLoaded what="attempt" query={query} />;
}

interface LoadedAttemptProps {
  attempt: Attempt;
  tab: AttemptTab | null;
  scroller: RefObject<HTMLElement | null>;
}

function LoadedAttempt({ attempt, tab, scroller }: LoadedAttemptProps) {
  const content = useRef<HTMLDivElement>(null);
  const place = useReadingPlace(scroller, content);
  const handle = useHandle(attempt.attempt_id, attempt.session_id);
  const { data: task } = useTaskIfKnown(handle);
  // Decided once, so that the view does not change while someone reads it when the agent ends.
  const [first] = useState<AttemptTab>(isAtWork(attempt.state) ? "conversation" : "changes");
  // For the same reason nothing is inserted above it.
  const [endsBelow] = useState(isAtWork(attempt.state));
  const shown = tab ?? first;
  const choose = (chosen: AttemptTab) => navigate(attemptPath(attempt.attempt_id, chosen), { replace: true });
  return (
    <div
      ref={content}
      data-attempt-id={attempt.attempt_id}
      data-state={attempt.state}
      className="mx-auto w-full max-w-[100rem] px-3 py-4 sm:px-5 sm:py-6"
    >
      <AttemptHeader attempt={attempt} task={task ?? null} />
      <div className="mt-5 grid min-w-0 gap-x-8 gap-y-6 xl:grid-cols-[minmax(0,1fr)_20rem]">
        <AttemptDetails attempt={attempt} handle={handle} />
        <div className="flex min-w-0 flex-col gap-5 xl:order-1">
          <AttemptWarnings attemptId={attempt.attempt_id} />
          {!endsBelow && <AttemptOutcome attempt={attempt} />}
          {attempt.state !== "merged" && (
            <Allowed to="follow_up">
              <FollowUpForm attempt={attempt} />
            </Allowed>
          )}
          <AttemptTabs attempt={attempt} shown={shown} onChoose={choose} />
          <div role="tabpanel" id={tabPanelId(shown)} aria-label={shown} className="min-w-0">
            {shown === "changes" && <DiffView attempt={attempt} />}
            {shown === "conversation" && handle === null && <p className="text-muted">The agent has not begun yet.</p>}
            {shown === "conversation" && handle !== null && (
              <Conversation
                id={handle}
                isTaskLive={task ? isLive(task) : true}
                scroller={scroller}
                place={place}
                isTitled={false}
              />
            )}
          </div>
          {endsBelow && <AttemptOutcome attempt={attempt} />}
          {task && <AnswerBox key={task.id} task={task} />}
        </div>
      </div>
    </div>
  );
}
