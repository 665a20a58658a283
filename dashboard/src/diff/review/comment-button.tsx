/**
 * Begins a comment on a line. Shown where the pointer or the focus is. One of a file's buttons is a tab stop; arrow
 * keys move between them.
 */
import type { KeyboardEvent } from "react";
import { Icon } from "../../parts/icons.tsx";
import type { FileReview } from "../hunk-lines.tsx";
import type { DiffLine } from "../parse-diff.ts";
import { placeOf } from "./line-comment.ts";

interface CommentButtonProps {
  line: DiffLine;
  path: string;
  review: FileReview;
  isStop: boolean;
}

export function CommentButton({ line, path, review, isStop }: CommentButtonProps) {
  const place = placeOf(line);
  if (place === null) return null;
  return (
    <button
      type="button"
      data-comment-button
      tabIndex={isStop ? 0 : -1}
      aria-label={`Comment on ${place.side === "before" ? "deleted line" : "line"} ${place.line}`}
      title="Comment on this line"
      onClick={() => review.store.begin(review.repo, path, line)}
      onKeyDown={moveBetweenLines}
      className="diff-comment-button"
    >
      <Icon name="plus" className="size-3" />
    </button>
  );
}

function moveBetweenLines(event: KeyboardEvent<HTMLButtonElement>): void {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step === undefined) return;
  const buttons = [...(event.currentTarget.closest("[data-file]")?.querySelectorAll("[data-comment-button]") ?? [])];
  const next = buttons[buttons.indexOf(event.currentTarget) + step];
  if (!(next instanceof HTMLElement)) return;
  event.preventDefault();
  event.stopPropagation();
  next.focus();
}
