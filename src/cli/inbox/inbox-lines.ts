/** How the inbox looks in a terminal: its table, one entry in full, and the keys that answer it. Pure. */
import type { WireInboxEntry } from "../../protocol/inbox.ts";
import type { Paint } from "../terminal/paint.ts";
import { type Column, tableLines } from "../terminal/table.ts";
import { cutToWidth, oneLine, shortDuration, shortId } from "../terminal/text.ts";

export const KIND_WORDS: Record<WireInboxEntry["kind"], string> = {
  permission: "permission?",
  question: "question?",
  approval: "approve?",
  blocked: "blocked",
  failed: "failed",
  limit: "at its limit",
  budget: "budget",
  conflict: "conflict",
};

/** What each key does to an entry, in the order of the help line. */
const KEYS: Record<WireInboxEntry["kind"], string> = {
  permission: "a allow once · A always · r reject · R reject with a message",
  question: "t answer · r decline",
  approval: "a approve · r deny",
  blocked: "a start it all the same · r cancel it",
  failed: "d mark as read · t continue it with a message",
  limit: "d mark as read · t continue it with a message",
  budget: "t raise it to, for example, $5 2h",
  conflict: "t tell the agent to resolve it",
};

const CONTINUE = ["inbox read <id>", 'resume <id> "prompt"'];

const COMMANDS: Record<WireInboxEntry["kind"], readonly string[]> = {
  permission: ["answer <id>"],
  question: ["answer <id>"],
  approval: ["approve <id>", "deny <id>"],
  blocked: ["edit <id> --if-failed run_anyway", "cancel <id>"],
  failed: CONTINUE,
  limit: CONTINUE,
  budget: ["budget set <id> '$5 2h'"],
  conflict: ['resume <id> "resolve the conflicts"'],
};

export function inboxColumns(paint: Paint, now: number): Column<WireInboxEntry>[] {
  return [
    { title: "ID", cell: entryId },
    { title: "NEEDS", cell: ({ kind }) => KIND_WORDS[kind], paint: (text, entry) => painted(text, entry, paint) },
    { title: "SINCE", cell: ({ since }) => shortDuration(now - Date.parse(since)), right: true },
    { title: "AGENT", cell: ({ agent }) => agent ?? "-", least: 7 },
    { title: "TASK", cell: ({ description }) => description, least: 10 },
    { title: "WHAT", cell: ({ text }) => text, least: 20 },
  ];
}

/** What commands take for it: a task's budget goes by the task. `budget set` takes the others as they are. */
function entryId({ taskId, approvalId, budgetId }: WireInboxEntry): string {
  const [, task] = /^task:(.+)$/s.exec(budgetId ?? "") ?? [];
  return task === undefined ? (budgetId ?? shortId(taskId ?? approvalId ?? "-")) : shortId(task);
}

/** The commands that help with what is listed, each kind of entry once. */
export function inboxCommands(entries: readonly WireInboxEntry[]): string {
  const commands = entries.flatMap(({ kind }) => COMMANDS[kind]);
  const isTask = entries.some(({ kind }) => kind !== "approval");
  if (isTask) commands.push("show <id>");
  return [...new Set(commands)].map((command) => `asyncagents ${command}`).join(" · ");
}

function painted(text: string, { kind }: WireInboxEntry, paint: Paint): string {
  return kind === "failed" || kind === "limit" || kind === "budget" ? paint.red(text) : paint.yellow(text);
}

export interface InboxView {
  entries: readonly WireInboxEntry[];
  selected: WireInboxEntry | null;
  /** How many lines of the selected text are scrolled off. */
  above: number;
  /** What the last key came to. */
  note: string;
  /** What is being typed, and for what; null if nothing is. */
  typing: { label: string; text: string } | null;
}

interface Size {
  width: number;
  height: number;
  paint: Paint;
  now: number;
}

/** `below`: how many lines of the selected text do not fit; what is approved must have been shown whole. */
export function inboxLines(view: InboxView, { width, height, paint, now }: Size): { lines: string[]; below: number } {
  const { entries, selected, note, typing } = view;
  const { length: count } = entries;
  const needs = count === 0 ? "nothing needs you" : `${count} ${count === 1 ? "needs" : "need"} you`;
  const head = `${paint.bold("asyncagents inbox")}  ${paint.dim(needs)}`;
  const foot = paint.dim(cutToWidth(note || "q quits; what waits keeps waiting", width));
  if (selected === null) return { lines: [head, "", foot], below: 0 };
  const index = entries.indexOf(selected);
  const room = Math.max(1, Math.min(entries.length, Math.floor((height - 8) / 2)));
  const first = Math.max(0, Math.min(index - Math.floor(room / 2), entries.length - room));
  const rows = entries.slice(first, first + room);
  const table = tableLines(inboxColumns(paint, now), rows, { width: width - 2, paint }).map(
    (line, at) => `${at > 0 && rows[at - 1] === selected ? paint.bold("›") : " "} ${line}`,
  );
  const text = textLines(selected, width - 2);
  const free = Math.max(1, height - table.length - 7);
  const shown = text.slice(view.above, view.above + free);
  const below = Math.max(0, text.length - view.above - free);
  const where = [selected.host, selected.machine, selected.directory]
    .filter(Boolean)
    .map((part) => oneLine(part ?? ""));
  const keys = typing === null ? `${KEYS[selected.kind]} · n next` : "enter sends · esc goes back";
  return {
    lines: [
      head,
      "",
      ...table,
      "",
      paint.dim(cutToWidth(`${where.join(" · ")}`, width)),
      ...shown.map((line) => `  ${line}`),
      ...(below > 0 ? [paint.dim(`  ${below} more; enter reads on`)] : [""]),
      typing === null ? paint.cyan(cutToWidth(keys, width)) : `${cutToWidth(typing.label, width)} ${typing.text}▏`,
      typing === null ? foot : paint.dim(note || keys),
    ],
    below,
  };
}

/** The whole text in lines that fit. */
function textLines({ text, isShortened }: WireInboxEntry, width: number): string[] {
  const lines = text.split("\n").flatMap((line) => pieces(oneLine(line), Math.max(10, width)));
  return isShortened ? [...lines, "… (shortened)"] : lines;
}

function pieces(line: string, width: number): string[] {
  const found: string[] = [];
  for (let rest = line; ; ) {
    const cut = cutToWidth(rest, width);
    if (cut === rest) return [...found, rest];
    const piece = cut.slice(0, -1);
    found.push(piece);
    rest = rest.slice(piece.length);
  }
}
