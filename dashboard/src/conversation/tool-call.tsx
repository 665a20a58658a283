/**
 * One tool call: its name, subject, state and duration in one line, with input and output below. A failed one shows
 * its error without being opened.
 */
import type { LogPart } from "../../../src/protocol/conversations.ts";
import { useNow } from "../live/clock.ts";
import { ForeignText } from "../parts/foreign-text.tsx";
import { Icon, type IconName } from "../parts/icons.tsx";
import { fineDurationText } from "../wording/durations.ts";
import { visibleText } from "../wording/hidden-characters.ts";
import { Fold } from "./fold.tsx";
import { LongText } from "./long-text.tsx";
import { ToolInput } from "./tool-input.tsx";
import { subjectOf, type ToolSubject } from "./tool-subjects.ts";

export type ToolPart = Extract<LogPart, { type: "tool" }>;

const LOOKS: Record<ToolPart["state"], { icon: IconName; colour: string }> = {
  pending: { icon: "stalled", colour: "text-muted" },
  running: { icon: "running", colour: "text-[var(--running)] animate-[spin_1.6s_linear_infinite]" },
  completed: { icon: "completed", colour: "text-[var(--completed)]" },
  error: { icon: "error", colour: "text-error" },
};

export function ToolCall({ part, foldName }: { part: ToolPart; foldName: string }) {
  const { icon, colour } = LOOKS[part.state];
  const subject = subjectOf(part.name, part.input);
  const about = part.title ?? (subject?.kind === "command" ? subject.command : null) ?? pathIn(subject) ?? "";
  const line = (
    <>
      <Icon name={icon} className={`size-3.5 ${colour}`} />
      <span className="foreign shrink-0 font-mono text-xs font-semibold">
        <ForeignText text={part.name} />
      </span>
      <span className="foreign min-w-0 flex-1 truncate text-muted" title={visibleText(about.slice(0, 500))}>
        <ForeignText text={about.slice(0, 200)} />
      </span>
      {part.state !== "completed" && (
        <span className={part.state === "error" ? "text-error" : "text-muted"}>{part.state}</span>
      )}
      <ToolDuration part={part} />
    </>
  );
  return (
    <div data-tool-state={part.state} className="flex min-w-0 flex-col gap-1.5">
      <Fold line={line} name={foldName}>
        {() => (
          <>
            <ToolInput part={part} />
            {part.output !== null && <LongText label={`Output of ${part.name}`} text={part.output || "(empty)"} />}
            {isEmpty(part.input) && part.output === null && <p className="text-muted">Nothing yet.</p>}
          </>
        )}
      </Fold>
      {part.error !== null && <LongText label={`Error of ${part.name}`} text={part.error} isError />}
    </div>
  );
}

function pathIn(subject: ToolSubject | null): string | null {
  return subject !== null && "path" in subject ? subject.path : null;
}

function isEmpty(input: unknown): boolean {
  return input === undefined || input === null;
}

function ToolDuration({ part }: { part: ToolPart }) {
  const now = useNow({ moves: part.state === "running" });
  if (part.startedAt === null || (part.endedAt === null && part.state !== "running")) return null;
  const end = part.endedAt === null ? now : Date.parse(part.endedAt);
  return <span className="shrink-0 text-xs text-faint">{fineDurationText(end - Date.parse(part.startedAt))}</span>;
}
