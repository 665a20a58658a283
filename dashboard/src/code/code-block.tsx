/**
 * Monospaced source text, highlighted if its language is known, with a copy button. Text too long to highlight
 * without blocking the page stays plain; text too long to render at once is cut until the reader asks for all of it.
 */
import { Fragment, memo, type ReactNode, useMemo, useState } from "react";
import { Button } from "../parts/button.tsx";
import { CopyButton } from "../parts/copy-button.tsx";
import { countText } from "../wording/amounts.ts";
import { visibleText } from "../wording/hidden-characters.ts";
import { ColouredWords } from "./coloured-words.tsx";
import type { Highlighter } from "./highlighter.ts";
import { useHighlighter } from "./use-highlighter.ts";
import "./code.css";

const MAX_COLOURED = 60_000;
const CUT = 8000;

interface CodeBlockProps {
  text: string;
  /** A language, or the name of a file in it. */
  language: string;
  label: string;
}

export const CodeBlock = memo(function CodeBlock({ text, language, label }: CodeBlockProps) {
  const highlighter = useHighlighter();
  const [showsAll, setShowsAll] = useState(false);
  const isCut = !showsAll && text.length > CUT + 500;
  const shown = isCut ? `${text.slice(0, CUT)}…` : text;
  const lines = useMemo(() => colouredLines(highlighter, shown, language), [highlighter, shown, language]);
  return (
    <div className="min-w-0">
      <CodeFrame label={label} text={text}>
        {lines === null ? <ColouredWords tokens={null} text={shown} /> : lines}
      </CodeFrame>
      {isCut && (
        <Button weight="quiet" className="mt-1" onClick={() => setShowsAll(true)}>
          Show all {countText(text.length)} characters
        </Button>
      )}
    </div>
  );
});

interface CodeFrameProps {
  label: string;
  /** What the button copies. */
  text: string;
  look?: string;
  children: ReactNode;
}

/** The box around monospaced text: it scrolls, and has a copy button. */
export function CodeFrame({ label, text, look = "bg-raised text-ink", children }: CodeFrameProps) {
  return (
    <div className={`group/code relative min-w-0 rounded-lg ${look}`}>
      <section
        aria-label={visibleText(label)}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by keys
        tabIndex={0}
        className="max-h-[60vh] overflow-auto rounded-lg px-3 py-2.5"
      >
        <pre className="code foreign font-mono text-xs whitespace-pre-wrap">{children}</pre>
      </section>
      <div className="absolute top-1 right-1 rounded-md bg-surface opacity-0 transition-opacity group-hover/code:opacity-100 focus-within:opacity-100 pointer-coarse:opacity-100">
        <CopyButton label="Copy" text={() => text} />
      </div>
    </div>
  );
}

function colouredLines(highlighter: Highlighter | null, text: string, language: string): ReactNode[] | null {
  const known = highlighter?.languageOf(language) ?? null;
  if (!highlighter || known === null || text.length > MAX_COLOURED) return null;
  return highlighter.tokenLines(text, known).map((tokens, index) => (
    <Fragment key={index}>
      {index > 0 && "\n"}
      <ColouredWords tokens={tokens} text="" />
    </Fragment>
  ));
}
