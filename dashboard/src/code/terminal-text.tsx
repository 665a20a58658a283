/**
 * A tool's output in its terminal colours.
 */
import { memo, useMemo } from "react";
import { ForeignText } from "../parts/foreign-text.tsx";
import { terminalRuns } from "../wording/terminal-text.ts";
import "./code.css";

/** The maximum number of colour changes; the rest is plain. */
const MAX_RUNS = 2000;

export const TerminalText = memo(function TerminalText({ text }: { text: string }) {
  const runs = useMemo(() => terminalRuns(text), [text]);
  const rest = runs.slice(MAX_RUNS).map((run) => run.text);
  return (
    <>
      {runs.slice(0, MAX_RUNS).map((run, index) =>
        run.looks.length === 0 ? (
          <ForeignText key={index} text={run.text} />
        ) : (
          <span key={index} className={run.looks.map((look) => `ansi-${look}`).join(" ")}>
            <ForeignText text={run.text} />
          </span>
        ),
      )}
      {rest.length > 0 && <ForeignText text={rest.join("")} />}
    </>
  );
});
