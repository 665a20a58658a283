/** The script of a request: a long one is cut until the reader asks for all of it. */
import { Button } from "../parts/button.tsx";
import { ForeignText } from "../parts/foreign-text.tsx";
import { counted } from "../wording/amounts.ts";

interface ApprovalScriptProps {
  text: string;
  showsAll: boolean;
  onShowAll: () => void;
}

export function ApprovalScript({ text, showsAll, onShowAll }: ApprovalScriptProps) {
  return (
    <>
      <pre
        className={`foreign shrink-0 rounded-md border border-line bg-surface p-2 font-mono text-xs whitespace-pre-wrap ${showsAll ? "" : "max-h-48 overflow-hidden"}`}
      >
        <ForeignText text={text} />
      </pre>
      {!showsAll && (
        <Button className="self-start" onClick={onShowAll}>
          Show the whole script: {counted(linesOf(text), "line")}
        </Button>
      )}
    </>
  );
}

function linesOf(script: string): number {
  return script.trimEnd().split("\n").length;
}

/** This much fits on screen at once, even on a phone. */
export function isShort(script: string): boolean {
  return linesOf(script) <= 8 && script.length <= 300;
}
