/**
 * What a task is doing, in one line: what needs a person's attention stands out by an icon, not by colour alone.
 */

import { visibleText } from "../wording/hidden-characters.ts";
import { type Phased, phaseText } from "../wording/phase.ts";
import { ForeignText } from "./foreign-text.tsx";
import { Icon } from "./icons.tsx";

export function PhaseMark({ task, wraps = false }: { task: Phased; wraps?: boolean }) {
  const { text, needsAttention, kind } = phaseText(task);
  if (text === "") return null;
  const fit = wraps ? "" : "truncate";
  if (!needsAttention) {
    const colour = task.status === "error" ? "text-error" : "text-muted";
    return (
      <span className={`foreign min-w-0 ${fit} ${colour}`} title={visibleText(text)}>
        <ForeignText text={text} />
      </span>
    );
  }
  return (
    <span
      className="inline-flex max-w-full min-w-0 items-center gap-1.5 rounded-md bg-attention-soft px-1.5 py-0.5 font-medium text-attention ring-1 ring-attention/35 ring-inset"
      title={visibleText(text)}
    >
      {kind !== "plain" && <Icon name={kind} className="size-3.5" />}
      <span className={`foreign min-w-0 ${fit}`}>
        <ForeignText text={text} />
      </span>
    </span>
  );
}
