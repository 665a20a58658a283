/**
 * Text that a person typed, shown as typed: with its line breaks, and never as Markdown.
 */
import { ForeignText } from "./foreign-text.tsx";

export function TypedText({ text }: { text: string }) {
  return (
    <p className="foreign whitespace-pre-wrap">
      <ForeignText text={text} />
    </p>
  );
}
