/**
 * The lines of one hunk, in one column or in two. Signs are text beside the colours; copying lines leaves out numbers
 * and signs. Where a review goes on, each line can have a comment below it.
 */
import { Fragment, memo, useMemo } from "react";
import { ColouredWords } from "../code/coloured-words.tsx";
import type { Highlighter, Token } from "../code/highlighter.ts";
import { ForeignText } from "../parts/foreign-text.tsx";
import { colouredHunk } from "./coloured-hunk.ts";
import { LineWarning } from "./line-warning.tsx";
import type { DiffLine, Hunk } from "./parse-diff.ts";
import type { AttemptComments } from "./review/attempt-comments.ts";
import { CommentBox } from "./review/comment-box.tsx";
import { CommentButton } from "./review/comment-button.tsx";
import { isAt, type LineComment } from "./review/line-comment.ts";
import { linePairs } from "./side-by-side.ts";
import "../code/code.css";
import "./diff.css";

const SIGNS: Record<DiffLine["kind"], string> = { added: "+", removed: "−", context: "", note: "" };

/** The comments of one file, where they can be written. */
export interface FileReview {
  repo: string;
  store: AttemptComments;
  comments: readonly LineComment[];
}

interface HunkLinesProps {
  hunk: Hunk;
  path: string;
  isFirst: boolean;
  highlighter: Highlighter | null;
  isSplit?: boolean;
  review?: FileReview | null;
}

export const HunkLines = memo(function HunkLines(props: HunkLinesProps) {
  const { hunk, path, isFirst, highlighter, isSplit = false, review = null } = props;
  const coloured = useMemo(() => colouredHunk(highlighter, hunk, path), [highlighter, hunk, path]);
  const shown = { hunk, path, coloured, review, isFirst };
  return (
    <div className="diff-hunk">
      {(!isFirst || hunk.around !== "") && (
        <p className="diff-around foreign">
          <ForeignText text={hunk.around === "" ? "…" : `… ${hunk.around}`} />
        </p>
      )}
      {isSplit ? <TwoColumns {...shown} /> : <OneColumn {...shown} />}
    </div>
  );
});

interface ShownHunk {
  hunk: Hunk;
  path: string;
  coloured: readonly (Token[] | null)[];
  review: FileReview | null;
  isFirst: boolean;
}

function OneColumn({ hunk, path, coloured, review, isFirst }: ShownHunk) {
  return hunk.lines.map((line, index) => (
    <Fragment key={index}>
      <div className="diff-line" data-kind={line.kind}>
        {review && <CommentButton line={line} path={path} review={review} isStop={isFirst && index === 0} />}
        <span className="diff-number">{line.before}</span>
        <span className="diff-number">{line.after}</span>
        <span className="diff-sign">{SIGNS[line.kind]}</span>
        <Code text={line.text} tokens={coloured[index] ?? null} />
        <LineWarning text={line.text} />
      </div>
      {review && <LineComments line={line} review={review} />}
    </Fragment>
  ));
}

function TwoColumns({ hunk, path, coloured, review, isFirst }: ShownHunk) {
  const pairs = useMemo(() => linePairs(hunk), [hunk]);
  return pairs.map(({ left, right }, index) => {
    const [old, now] = [left === null ? null : hunk.lines[left], right === null ? null : hunk.lines[right]];
    const isSame = left === right;
    const half = (line: DiffLine | null | undefined, at: number | null, side: "before" | "after") => (
      <div className="diff-line diff-half" data-kind={line?.kind ?? "none"}>
        {line && review && !(isSame && side === "before") && (
          <CommentButton line={line} path={path} review={review} isStop={isFirst && index === 0} />
        )}
        <span className="diff-number">{line?.[side]}</span>
        <span className="diff-sign">{line ? SIGNS[line.kind] : ""}</span>
        {line ? <Code text={line.text} tokens={coloured[at ?? 0] ?? null} /> : <span className="diff-code" />}
        {line && <LineWarning text={line.text} />}
      </div>
    );
    return (
      <Fragment key={index}>
        <div className="diff-pair">
          {half(old, left, "before")}
          {half(now, right, "after")}
        </div>
        {review && old && !isSame && <LineComments line={old} review={review} />}
        {review && now && <LineComments line={now} review={review} />}
      </Fragment>
    );
  });
}

function Code({ text, tokens }: { text: string; tokens: Token[] | null }) {
  return (
    <code className="diff-code code foreign">{text === "" ? "\n" : <ColouredWords tokens={tokens} text={text} />}</code>
  );
}

function LineComments({ line, review }: { line: DiffLine; review: FileReview }) {
  const here = review.comments.filter((comment) => isAt(comment, line));
  return here.map((comment) => (
    <CommentBox key={`${comment.side} ${comment.line}`} comment={comment} store={review.store} />
  ));
}
