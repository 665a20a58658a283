/**
 * Output as it looked in a terminal: long output is cut until the reader asks for all of it.
 */
import { useState } from "react";
import { CodeFrame } from "../code/code-frame.tsx";
import { ShowAll } from "../code/show-all.tsx";
import { TerminalText } from "../code/terminal-text.tsx";

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
      {isCut && <ShowAll text={text} onShow={() => setShowsAll(true)} />}
    </div>
  );
}
