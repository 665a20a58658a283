/**
 * The lines of one hunk. Signs are text beside the colours; copying lines leaves out numbers and signs. A line with
 * hidden characters says so below it, because it may not do what it seems to.
 */
import { memo, useMemo } from "react";
import { ColouredWords } from "../code/coloured-words.tsx";
import type { Highlighter } from "../code/highlighter.ts";
import { ForeignText } from "../parts/foreign-text.tsx";
import { Icon } from "../parts/icons.tsx";
import { hiddenIn } from "../wording/hidden-characters.ts";
import { colouredHunk } from "./coloured-hunk.ts";
import type { DiffLine, Hunk } from "./parse-diff.ts";
import "../code/code.css";
import "./diff.css";

const SIGNS: Record<DiffLine["kind"], string> = { added: "+", removed: "−", context: "", note: "" };

interface HunkLinesProps {
  hunk: Hunk;
  path: string;
  isFirst: boolean;
  highlighter: Highlighter | null;
}

export const HunkLines = memo(function HunkLines({ hunk, path, isFirst, highlighter }: HunkLinesProps) {
  const coloured = useMemo(() => colouredHunk(highlighter, hunk, path), [highlighter, hunk, path]);
  return (
    <div className="diff-hunk">
      {(!isFirst || hunk.around !== "") && (
        <p className="diff-around foreign">
          <ForeignText text={hunk.around === "" ? "…" : `… ${hunk.around}`} />
        </p>
      )}
      {hunk.lines.map((line, index) => (
        <div key={index} className="diff-line" data-kind={line.kind}>
          <span className="diff-number">{line.before}</span>
          <span className="diff-number">{line.after}</span>
          <span className="diff-sign">{SIGNS[line.kind]}</span>
          <code className="diff-code code foreign">
            {line.text === "" ? "\n" : <ColouredWords tokens={coloured[index] ?? null} text={line.text} />}
          </code>
          <Warning text={line.text} />
        </div>
      ))}
    </div>
  );
});

const WARNINGS = {
  direction: "This line has hidden characters that change the order of its text. Other tools may show it differently.",
  invisible: "This line has characters that cannot be seen.",
} as const;

function Warning({ text }: { text: string }) {
  const hidden = hiddenIn(text);
  if (hidden === null) return null;
  return (
    <span className="diff-warning" data-hidden={hidden}>
      <Icon name="warning" className="size-3.5" />
      {WARNINGS[hidden]}
    </span>
  );
}
