/**
 * The changes of one file under its name: numbered, signed and highlighted lines. A long one is rendered in portions.
 * One that was viewed is closed.
 */
import { memo, useContext, useMemo, useState } from "react";
import type { Highlighter } from "../code/highlighter.ts";
import { Button } from "../parts/button.tsx";
import { ForeignText } from "../parts/foreign-text.tsx";
import { Icon } from "../parts/icons.tsx";
import { countText } from "../wording/amounts.ts";
import { hiddenIn } from "../wording/hidden-characters.ts";
import type { ChangedFile } from "./changed-files.ts";
import { useIsSplit } from "./diff-layout.ts";
import { HunkLines } from "./hunk-lines.tsx";
import { LineCounts } from "./line-counts.tsx";
import type { FileDiff, Hunk } from "./parse-diff.ts";
import { ReviewContext, useFileComments, useIsViewed } from "./review/review-context.ts";

const PORTION = 1000;

interface FileChangesProps {
  repo: string;
  file: ChangedFile;
  isOpenAtFirst: boolean;
  highlighter: Highlighter | null;
}

export const FileChanges = memo(function FileChanges({ repo, file, isOpenAtFirst, highlighter }: FileChangesProps) {
  const review = useContext(ReviewContext);
  const isViewed = useIsViewed(repo, file);
  const [isOpen, setIsOpen] = useState(isOpenAtFirst && !isViewed);
  const view = (isNow: boolean) => {
    review?.viewed.set(repo, file, isNow);
    setIsOpen(!isNow);
  };
  return (
    <div data-file={file.path} data-place={file.path} className="min-w-0 scroll-mt-2">
      {review !== null && file.shown === "whole" && (
        <div className="pointer-events-none sticky top-0 z-20 -mb-9 flex h-9 items-center justify-end pr-2.5">
          <label className="pointer-events-auto flex h-6 items-center gap-1.5 text-xs text-muted hover:text-ink">
            <input type="checkbox" checked={isViewed} onChange={(event) => view(event.target.checked)} />
            Viewed
          </label>
        </div>
      )}
      <details
        open={isOpen}
        onToggle={(event) => setIsOpen(event.currentTarget.open)}
        className="group/file min-w-0 rounded-lg border border-line bg-surface"
      >
        <Heading file={file} hasMark={review !== null && file.shown === "whole"} isViewed={isViewed} />
        {isOpen && <Body repo={repo} file={file} highlighter={highlighter} />}
      </details>
    </div>
  );
});

function Heading({ file, hasMark, isViewed }: { file: ChangedFile; hasMark: boolean; isViewed: boolean }) {
  const hidesText = useMemo(
    () => file.hunks.some(({ lines }) => lines.some(({ text }) => hiddenIn(text) !== null)),
    [file],
  );
  return (
    <summary
      className={`sticky top-0 z-10 flex min-h-9 list-none flex-wrap items-center gap-2 rounded-lg bg-surface py-1.5 pl-2.5 group-open/file:rounded-b-none group-open/file:border-b group-open/file:border-line hover:bg-raised [&::-webkit-details-marker]:hidden ${hasMark ? "pr-24" : "pr-2.5"}`}
    >
      <Icon name="chevron" className="size-3 text-faint transition-transform group-open/file:rotate-90" />
      <span className={`foreign min-w-32 flex-1 font-mono text-xs ${isViewed ? "text-faint" : ""}`}>
        {file.from !== null && file.from !== file.path && (
          <span className="text-faint">
            <ForeignText text={file.from} /> →{" "}
          </span>
        )}
        <ForeignText text={file.path} />
      </span>
      {hidesText && (
        <span className="inline-flex shrink-0 items-center gap-1 rounded bg-attention-soft px-1.5 py-0.5 text-[11px] text-attention">
          <Icon name="warning" className="size-3" />
          hidden characters
        </span>
      )}
      {file.shown === "part" && (
        <span className="shrink-0 rounded bg-attention-soft px-1.5 py-0.5 text-[11px] text-attention">in part</span>
      )}
      {file.change !== "changed" && (
        <span className="rounded bg-raised px-1.5 py-0.5 text-[11px] text-muted">{WORDS[file.change]}</span>
      )}
      {file.isBinary ? (
        <span className="text-xs text-faint">binary</span>
      ) : (
        <LineCounts insertions={file.insertions} deletions={file.deletions} />
      )}
    </summary>
  );
}

const WORDS: Record<FileDiff["change"], string> = { added: "new", removed: "deleted", moved: "moved", changed: "" };

function Body({ repo, file, highlighter }: Omit<FileChangesProps, "isOpenAtFirst">) {
  const review = useContext(ReviewContext);
  const comments = useFileComments(repo, file.path);
  const written = useMemo(
    () => (review?.canComment ? { repo, store: review.comments, comments } : null),
    [review, repo, comments],
  );
  const isSplit = useIsSplit();
  const [most, setMost] = useState(PORTION);
  const total = file.hunks.reduce((sum, hunk) => sum + hunk.lines.length, 0);
  if (file.hunks.length === 0) {
    return (
      <p className="px-3 py-2 text-muted">{file.isBinary ? "A binary file: no lines to show." : "No lines changed."}</p>
    );
  }
  return (
    <div className="min-w-0 overflow-hidden rounded-b-lg py-1">
      {firstLines(file.hunks, most).map((hunk, index) => (
        <HunkLines
          key={index}
          hunk={hunk}
          path={file.path}
          isFirst={index === 0}
          highlighter={highlighter}
          isSplit={isSplit}
          review={written}
        />
      ))}
      {total > most && (
        <Button weight="quiet" className="mx-2 my-1" onClick={() => setMost(most + PORTION)}>
          Show more of {countText(total)} lines
        </Button>
      )}
      {total <= most && file.shown === "part" && (
        <p className="diff-warning">
          <Icon name="warning" className="size-3.5" />
          The diff was cut here. The rest of this file is not shown.
        </p>
      )}
    </div>
  );
}

/** Complete hunks stay the same object, so that they need not be highlighted again. */
function firstLines(hunks: readonly Hunk[], most: number): Hunk[] {
  let left = most;
  const shown: Hunk[] = [];
  for (const hunk of hunks) {
    if (left <= 0) break;
    shown.push(hunk.lines.length <= left ? hunk : { ...hunk, lines: hunk.lines.slice(0, left) });
    left -= hunk.lines.length;
  }
  return shown;
}
