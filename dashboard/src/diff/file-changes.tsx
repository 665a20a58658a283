/**
 * The changes of one file under its name: numbered, signed and highlighted lines. A long one is rendered in portions.
 */
import { memo, useMemo, useState } from "react";
import type { Highlighter } from "../code/highlighter.ts";
import { Button } from "../parts/button.tsx";
import { ForeignText } from "../parts/foreign-text.tsx";
import { Icon } from "../parts/icons.tsx";
import { countText } from "../wording/amounts.ts";
import { hiddenIn } from "../wording/hidden-characters.ts";
import type { ChangedFile } from "./changed-files.ts";
import { HunkLines } from "./hunk-lines.tsx";
import { LineCounts } from "./line-counts.tsx";
import type { FileDiff, Hunk } from "./parse-diff.ts";

const PORTION = 1000;

interface FileChangesProps {
  file: ChangedFile;
  isOpenAtFirst: boolean;
  highlighter: Highlighter | null;
}

export const FileChanges = memo(function FileChanges({ file, isOpenAtFirst, highlighter }: FileChangesProps) {
  const [isOpen, setIsOpen] = useState(isOpenAtFirst);
  const hidesText = useMemo(
    () => file.hunks.some(({ lines }) => lines.some(({ text }) => hiddenIn(text) !== null)),
    [file],
  );
  return (
    <details
      open={isOpen}
      onToggle={(event) => setIsOpen(event.currentTarget.open)}
      data-file={file.path}
      data-place={file.path}
      className="group/file min-w-0 rounded-lg border border-line bg-surface"
    >
      <summary className="sticky top-0 z-10 flex min-h-9 list-none items-center gap-2 rounded-lg bg-surface px-2.5 py-1.5 group-open/file:rounded-b-none group-open/file:border-b group-open/file:border-line hover:bg-raised [&::-webkit-details-marker]:hidden">
        <Icon name="chevron" className="size-3 text-faint transition-transform group-open/file:rotate-90" />
        <span className="foreign min-w-0 flex-1 font-mono text-xs">
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
      {isOpen && <Body file={file} highlighter={highlighter} />}
    </details>
  );
});

const WORDS: Record<FileDiff["change"], string> = { added: "new", removed: "deleted", moved: "moved", changed: "" };

function Body({ file, highlighter }: { file: ChangedFile; highlighter: Highlighter | null }) {
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
        <HunkLines key={index} hunk={hunk} path={file.path} isFirst={index === 0} highlighter={highlighter} />
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
