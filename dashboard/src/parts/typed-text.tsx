/**
 * What a person typed, as typed: with its line breaks, and never read as Markdown.
 */
import { ForeignText } from "./foreign-text.tsx";

export function TypedText({ text }: { text: string }) {
  return (
    <p className="foreign whitespace-pre-wrap">
      <ForeignText text={text} />
    </p>
  );
}
