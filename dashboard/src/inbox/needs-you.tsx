/**
 * What needs a person, above every view: open on the list of tasks, one line elsewhere. The oldest entry is open until
 * the reader opens another one. `i` opens it and moves the focus into it. Shows nothing if nothing waits.
 */
import { useEffect, useRef, useState } from "react";
import { flushSync } from "react-dom";
import type { WireInboxEntry } from "../../../src/protocol/inbox.ts";
import { useChoice } from "../browser/stored-choice.ts";
import { Button } from "../parts/button.tsx";
import { Icon } from "../parts/icons.tsx";
import { useInbox } from "../server/queries.ts";
import { useShortcuts } from "../shell/shortcuts.ts";
import { chime, soundChoice, useAttention } from "./attention.ts";
import { InboxEntry, type ShownEntry } from "./inbox-entry.tsx";

export function NeedsYou({ startsOpen }: { startsOpen: boolean }) {
  const { data: inbox } = useInbox();
  const [isOpen, setOpen] = useState(startsOpen);
  const [chosen, choose] = useState<string | null>(null);
  const region = useRef<HTMLElement>(null);
  useAttention(useIds(inbox?.entries));
  useEffect(() => setOpen(startsOpen), [startsOpen]);
  useShortcuts({
    i: () => {
      // At once, so that the next key goes to the entry.
      flushSync(() => setOpen(true));
      region.current?.querySelector<HTMLElement>("li button")?.focus();
    },
  });
  const entries = (inbox?.entries ?? []).filter(
    (entry): entry is ShownEntry => entry.taskId !== null || entry.budgetId !== null,
  );
  if (entries.length === 0) return null;
  const open = chosen === "" || entries.some(({ id }) => id === chosen) ? chosen : entries[0]?.id;
  return (
    <section
      ref={region}
      aria-label="Needs you"
      className="flex max-h-[60vh] min-h-0 shrink-0 flex-col border-b border-attention/40 bg-attention-soft px-3 sm:px-5"
    >
      <h2 className="flex items-center gap-1 py-1">
        <Button
          weight="quiet"
          className="-ml-2 font-semibold text-attention"
          aria-expanded={isOpen}
          title="Show what needs you (i)"
          onClick={() => setOpen(!isOpen)}
        >
          <Icon name="chevron" className={isOpen ? "rotate-90" : ""} />
          Needs you: {inbox?.isTruncated ? `${entries.length} or more` : entries.length}
        </Button>
        <Sound />
      </h2>
      {isOpen && (
        <ul className="min-h-0 divide-y divide-attention/30 overflow-y-auto pb-1">
          {entries.map((entry) => (
            <InboxEntry
              key={entry.id}
              entry={entry}
              isOpen={entry.id === open}
              onToggle={() => choose(entry.id === open ? "" : entry.id)}
            />
          ))}
        </ul>
      )}
    </section>
  );
}

/** The same list while the entries are the same. */
function useIds(entries: readonly WireInboxEntry[] | undefined): readonly string[] | undefined {
  const text = entries?.map(({ id }) => id).join("\n");
  const [ids, setIds] = useState<readonly string[]>();
  useEffect(() => {
    if (text !== undefined) setIds(text === "" ? [] : text.split("\n"));
  }, [text]);
  return ids;
}

function Sound() {
  const isOn = useChoice(soundChoice) === "on";
  const toggle = () => {
    soundChoice.choose(isOn ? "off" : "on");
    if (!isOn) chime();
  };
  return (
    <Button weight="quiet" className="ml-auto text-xs" aria-pressed={isOn} onClick={toggle}>
      Sound {isOn ? "on" : "off"}
    </Button>
  );
}
