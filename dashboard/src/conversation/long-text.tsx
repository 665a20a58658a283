/**
 * Output as it looked in a terminal: long output is cut until the reader asks for all of it.
 */
import { useState } from "react";
import { CodeFrame } from "../code/code-block.tsx";
import { TerminalText } from "../code/terminal-text.tsx";
import { Button } from "../parts/button.tsx";
import { countText } from "../wording/amounts.ts";

const CUT = 4000;

interface LongTextProps {
  text: string;
  label: string;
  isError?: boolean;
}

export function LongText({ text, label, isError = false }: LongTextProps) {
  const [showsAll, setShowsAll] = useState(false);
  // An error is what the reader is looking for.
  const isCut = !isError && !showsAll && text.length > CUT + 500;
  const look = isError ? "border border-error/35 bg-error/8 text-error" : "bg-raised text-ink";
  return (
    <div className="min-w-0">
      <CodeFrame label={label} text={text} look={look}>
        <TerminalText text={isCut ? `${text.slice(0, CUT)}…` : text} />
      </CodeFrame>
      {isCut && (
        <Button weight="quiet" className="mt-1" onClick={() => setShowsAll(true)}>
          Show all {countText(text.length)} characters
        </Button>
      )}
    </div>
  );
}
