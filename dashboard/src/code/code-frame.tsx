/** The box around monospaced text: it scrolls, can be reached by keys, and has a copy button. */
import type { ReactNode } from "react";
import { CopyButton } from "../parts/copy-button.tsx";
import { visibleText } from "../wording/hidden-characters.ts";
import "./code.css";

interface CodeFrameProps {
  label: string;
  /** What the button copies. */
  text: string;
  look?: string;
  children: ReactNode;
}

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
