/**
 * A comment below its line, while it is written and until it is sent. What is typed is kept at once.
 */
import { useEffect, useRef, useState } from "react";
import { Button } from "../../parts/button.tsx";
import { type AttemptComments, COMMENT_CHARS } from "./attempt-comments.ts";
import type { LineComment } from "./line-comment.ts";

export function CommentBox({ comment, store }: { comment: LineComment; store: AttemptComments }) {
  const [text, setText] = useState(comment.text);
  const box = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    if (comment.text === "") box.current?.focus();
  }, [comment]);
  const type = (next: string) => {
    setText(next);
    store.type(comment, next);
  };
  return (
    <div data-comment className="diff-comment flex flex-col gap-2 font-sans sm:flex-row sm:items-start">
      <textarea
        ref={box}
        aria-label={`Comment on ${comment.side === "before" ? "deleted line" : "line"} ${comment.line}`}
        value={text}
        rows={Math.min(8, Math.max(2, text.split("\n").length))}
        maxLength={COMMENT_CHARS}
        placeholder="What should change here?"
        onChange={(event) => type(event.target.value)}
        onBlur={() => store.tell()}
        onKeyDown={(event) => {
          if (event.key !== "Escape") return;
          event.stopPropagation();
          if (text.trim() === "") store.remove(comment);
          else box.current?.blur();
        }}
        className="min-w-0 flex-1 resize-y rounded-md bg-page px-2.5 py-1.5 ring-1 ring-strong-line ring-inset placeholder:text-faint"
      />
      <Button weight="quiet" onClick={() => store.remove(comment)}>
        Discard
      </Button>
    </div>
  );
}
