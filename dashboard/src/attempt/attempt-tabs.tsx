/**
 * Switches between an attempt's conversation and its changes. Arrow keys move between them.
 */
import type { KeyboardEvent } from "react";
import { LineCounts } from "../diff/line-counts.tsx";
import type { AttemptTab } from "../routing/route.ts";
import type { Attempt } from "../server/operate.ts";
import { counted } from "../wording/amounts.ts";

interface AttemptTabsProps {
  attempt: Attempt;
  shown: AttemptTab;
  onChoose: (tab: AttemptTab) => void;
}

export function tabPanelId(tab: AttemptTab): string {
  return `attempt-${tab}`;
}

export function AttemptTabs({ attempt, shown, onChoose }: AttemptTabsProps) {
  const sum = (field: "files" | "insertions" | "deletions") =>
    attempt.repos.reduce((total, repo) => total + repo[field], 0);
  const press = (event: KeyboardEvent<HTMLElement>) => {
    if (event.key !== "ArrowLeft" && event.key !== "ArrowRight") return;
    event.preventDefault();
    const other = shown === "changes" ? "conversation" : "changes";
    event.currentTarget.querySelector<HTMLElement>(`[data-tab=${other}]`)?.focus();
    onChoose(other);
  };
  const tab = (name: AttemptTab, label: React.ReactNode) => (
    <button
      type="button"
      role="tab"
      data-tab={name}
      aria-selected={shown === name}
      aria-controls={tabPanelId(name)}
      tabIndex={shown === name ? 0 : -1}
      onClick={() => onChoose(name)}
      className={`-mb-px flex items-center gap-2 border-b-2 px-1 py-2 text-[15px] ${shown === name ? "border-accent font-semibold" : "border-transparent text-muted hover:text-ink"}`}
    >
      {label}
    </button>
  );
  return (
    <div role="tablist" aria-label="Views of the attempt" onKeyDown={press} className="flex gap-5 border-b border-line">
      {tab("conversation", "Conversation")}
      {tab(
        "changes",
        <>
          Changes
          {sum("files") > 0 && (
            <span className="flex items-center gap-2 text-xs font-normal text-muted">
              {counted(sum("files"), "file")}
              <LineCounts insertions={sum("insertions")} deletions={sum("deletions")} />
            </span>
          )}
        </>,
      )}
    </div>
  );
}
