/**
 * Output as it is, in a fixed width: long ones are cut until a person asks for all.
 */
import { useState } from "react";
import { Button } from "../parts/button.tsx";
import { ForeignText } from "../parts/foreign-text.tsx";
import { countText } from "../wording/amounts.ts";
import { visibleText } from "../wording/hidden-characters.ts";

const CUT = 4000;

interface LongTextProps {
  text: string;
  label: string;
  isError?: boolean;
}

export function LongText({ text, label, isError = false }: LongTextProps) {
  const [showsAll, setShowsAll] = useState(false);
  // An error is what a person came for.
  const isCut = !isError && !showsAll && text.length > CUT + 500;
  const look = isError ? "border border-error/35 bg-error/8 text-error" : "bg-raised text-ink";
  return (
    <div className="min-w-0">
      <section
        aria-label={visibleText(label)}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by keys
        tabIndex={0}
        className={`max-h-[60vh] overflow-auto rounded-lg px-3 py-2.5 ${look}`}
      >
        <pre className="foreign font-mono text-xs whitespace-pre-wrap">
          <ForeignText text={isCut ? `${text.slice(0, CUT)}…` : text} />
        </pre>
      </section>
      {isCut && (
        <Button weight="quiet" className="mt-1" onClick={() => setShowsAll(true)}>
          Show all {countText(text.length)} characters
        </Button>
      )}
    </div>
  );
}
