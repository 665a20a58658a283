/**
 * Monospaced source text, highlighted if its language is known, with a copy button. Text too long to highlight
 * without blocking the page stays plain; text too long to render at once is cut until the reader asks for all of it.
 */
import { Fragment, memo, type ReactNode, useMemo, useState } from "react";
import { CodeFrame } from "./code-frame.tsx";
import { ColouredWords } from "./coloured-words.tsx";
import type { Highlighter } from "./highlighter.ts";
import { ShowAll } from "./show-all.tsx";
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
      {isCut && <ShowAll text={text} onShow={() => setShowsAll(true)} />}
    </div>
  );
});

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
