/**
 * The part of a merge that the page could not show, and the confirmation required before merging it.
 */
import type { Unseen } from "../diff/changed-files.ts";
import { ForeignText } from "../parts/foreign-text.tsx";
import { Icon } from "../parts/icons.tsx";
import { counted } from "../wording/amounts.ts";

interface UnseenChangesProps {
  unseen: Unseen;
  isAccepted: boolean;
  onAccept: (isAccepted: boolean) => void;
}

export function UnseenChanges({ unseen, isAccepted, onAccept }: UnseenChangesProps) {
  const { hidden, partly, unnamed, unread } = unseen;
  const told = [
    ...(hidden.length + unnamed > 0 ? [`${counted(hidden.length + unnamed, "file")} not shown at all`] : []),
    ...(partly.length > 0 ? [`${counted(partly.length, "file")} shown in part`] : []),
    ...unread,
  ];
  return (
    <section
      aria-label="Changes that were not shown"
      className="flex flex-col gap-2 rounded-lg border border-attention/50 bg-attention-soft px-3 py-2.5"
    >
      <p className="flex gap-2 font-medium text-attention">
        <Icon name="warning" className="mt-0.5" />
        <span className="foreign">
          Not all of this was shown: <ForeignText text={told.join(", ")} />.
        </span>
      </p>
      {hidden.length + partly.length > 0 && (
        <ul
          aria-label="Files that were not fully shown"
          // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by keys
          tabIndex={0}
          className="max-h-40 overflow-y-auto font-mono text-xs"
        >
          {partly.map((path) => (
            <li key={path} className="foreign">
              <ForeignText text={path} /> (in part)
            </li>
          ))}
          {hidden.map((path) => (
            <li key={path} className="foreign">
              <ForeignText text={path} />
            </li>
          ))}
          {unnamed > 0 && <li>and {counted(unnamed, "more file")}</li>}
        </ul>
      )}
      <label className="flex items-center gap-2 font-medium">
        <input type="checkbox" checked={isAccepted} onChange={(event) => onAccept(event.target.checked)} />
        Also merge changes that I have not seen
      </label>
    </section>
  );
}
