/**
 * Said below a line with hidden characters, because it may not do what it seems to.
 */
import { Icon } from "../parts/icons.tsx";
import { hiddenIn } from "../wording/hidden-characters.ts";

const WARNINGS = {
  direction: "This line has hidden characters that change the order of its text. Other tools may show it differently.",
  invisible: "This line has characters that cannot be seen.",
} as const;

export function LineWarning({ text }: { text: string }) {
  const hidden = hiddenIn(text);
  if (hidden === null) return null;
  return (
    <span className="diff-warning" data-hidden={hidden}>
      <Icon name="warning" className="size-3.5" />
      {WARNINGS[hidden]}
    </span>
  );
}
