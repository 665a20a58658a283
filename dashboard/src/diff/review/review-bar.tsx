/**
 * What a review has come to: how many files were viewed, the layout of the changes, and the comments, which are sent
 * together as one follow-up after the person has seen its text.
 */
import { useState } from "react";
import { useChoice } from "../../browser/stored-choice.ts";
import { Button } from "../../parts/button.tsx";
import type { Attempt, RepoDiff } from "../../server/operate.ts";
import { counted, countText } from "../../wording/amounts.ts";
import type { ChangedFile } from "../changed-files.ts";
import { diffLayout, treeChoice, useHasRoom } from "../diff-layout.ts";
import { type Review, useAllComments, useViewedCount } from "./review-context.ts";
import { SendComments } from "./send-comments.tsx";

interface ReviewBarProps {
  attempt: Attempt;
  repos: readonly RepoDiff[];
  files: readonly { repo: string; file: ChangedFile }[];
  review: Review;
}

export function ReviewBar({ attempt, repos, files, review }: ReviewBarProps) {
  const viewed = useViewedCount(review, files);
  const comments = useAllComments(review);
  const tree = useChoice(treeChoice);
  const [isSending, setIsSending] = useState(false);
  return (
    <div className="flex flex-wrap items-center gap-2">
      <Button
        aria-pressed={tree === "open"}
        onClick={() => treeChoice.choose(tree === "open" ? "closed" : "open")}
        title="Show or hide the list of files"
      >
        {counted(files.length, "file")}
      </Button>
      <p className="text-muted" data-viewed={viewed}>
        {countText(viewed)} of {countText(files.length)} viewed
      </p>
      <div className="ml-auto flex flex-wrap items-center gap-2">
        <LayoutChoice />
        {comments.length > 0 && (
          <Button weight="primary" onClick={() => setIsSending(true)}>
            Send {counted(comments.length, "comment")}…
          </Button>
        )}
      </div>
      {isSending && (
        <SendComments attempt={attempt} repos={repos} store={review.comments} onClose={() => setIsSending(false)} />
      )}
    </div>
  );
}

const LAYOUTS = [
  ["unified", "One column"],
  ["split", "Side by side"],
] as const;

function LayoutChoice() {
  const chosen = useChoice(diffLayout);
  if (!useHasRoom()) return null;
  return (
    <fieldset aria-label="Layout" className="flex rounded-md bg-raised p-0.5">
      {LAYOUTS.map(([layout, label]) => (
        <button
          key={layout}
          type="button"
          aria-pressed={chosen === layout}
          onClick={() => diffLayout.choose(layout)}
          className={`h-7 rounded px-2.5 text-[13px] ${chosen === layout ? "bg-surface font-medium shadow-sm" : "text-muted hover:text-ink"}`}
        >
          {label}
        </button>
      ))}
    </fieldset>
  );
}
