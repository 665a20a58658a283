/**
 * The lines of one hunk. Signs stand as text beside the colours; numbers and signs are left out when lines are copied.
 */
import { memo, useMemo } from "react";
import { colouredHunk, type Highlighter } from "./coloured-hunk.ts";
import type { Token } from "./highlighter.ts";
import type { DiffLine, Hunk } from "./parse-diff.ts";

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
        <p className="diff-around foreign">{hunk.around === "" ? "…" : `… ${hunk.around}`}</p>
      )}
      {hunk.lines.map((line, index) => (
        <div key={`${line.before} ${line.after} ${line.kind}`} className="diff-line" data-kind={line.kind}>
          <span className="diff-number">{line.before}</span>
          <span className="diff-number">{line.after}</span>
          <span className="diff-sign">{SIGNS[line.kind]}</span>
          <code className="diff-code foreign">
            <Words tokens={coloured[index] ?? null} text={line.text} />
          </code>
        </div>
      ))}
    </div>
  );
});

function Words({ tokens, text }: { tokens: Token[] | null; text: string }) {
  if (tokens === null) return text === "" ? "\n" : text;
  if (tokens.length === 0) return "\n";
  return tokens.map((token, index) =>
    token.className === "" ? (
      token.text
    ) : (
      <span key={index} className={token.className}>
        {token.text}
      </span>
    ),
  );
}
