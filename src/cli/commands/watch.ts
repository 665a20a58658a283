/**
 * `watch`: tasks as a table that is redrawn on every change, on the terminal's alternate screen, which leaves the
 * main screen untouched. If stdout is not a terminal, it prints one line per change. Read-only.
 */
import type { StreamEvent } from "../../client/event-stream.ts";
import { isLive } from "../../model/task.ts";
import type { BackgroundTask } from "../../protocol/tasks.ts";
import type { Command, Invocation } from "../command.ts";
import { EXIT } from "../exit-codes.ts";
import { liveEvents } from "../following/live-events.ts";
import { isQuit, keysOf, scrollOf } from "../terminal/scroll-keys.ts";
import { tableLines } from "../terminal/table.ts";
import { taskState, taskTableColumns } from "../terminal/task-table.ts";
import { cutToWidth, oneLine, shortId } from "../terminal/text.ts";

const REDRAW_MS = 100;
const TICK_MS = 1000;
const MAX_TASKS = 1000;
/** Screen lines not used for tasks. */
const FRAME_LINES = 4;

export const watchCommand: Command = {
  name: "watch",
  summary: "show tasks in a live table; q or Ctrl-C quits",
  details:
    "Keys: j, k and the arrows scroll, PageUp and PageDown scroll by a screen, g and G jump to the first and last task, q quits.",
  options: { live: { summary: "only running tasks" } },
  examples: ["asyncagents watch", "asyncagents watch --json | jq -c '{type, status: .task.status}'"],
  run: (invocation) =>
    invocation.screen.isTerminal && !invocation.screen.json ? watchTable(invocation) : watchLines(invocation),
};

async function watchLines({ connection, screen, signal }: Invocation): Promise<number> {
  for await (const { event } of liveEvents(connection, signal)) {
    if (screen.json) {
      if (event.type !== "heartbeat" && event.type !== "board.changed") screen.jsonLine(event);
    } else if (event.type === "snapshot") {
      for (const task of event.snapshot.tasks.filter(({ status }) => isLive(status)))
        screen.line(changeLine("task", task));
    } else if ("task" in event) screen.line(changeLine(event.type, event.task));
    await screen.flush();
  }
  return EXIT.interrupted;
}

function changeLine(type: string, task: BackgroundTask): string {
  const pieces = [new Date().toISOString(), type, task.id, taskState(task), task.agent, task.description];
  return pieces.map(oneLine).join("  ");
}

async function watchTable(invocation: Invocation): Promise<number> {
  const { connection, screen, signal } = invocation;
  const quit = new AbortController();
  const stop = AbortSignal.any([signal, quit.signal]);
  // Opened before the alternate screen, because it may print something.
  await connection.client();
  const table = new LiveTable(invocation);
  const unlisten = listenToKeys((key) => (isQuit(key) ? quit.abort() : table.scroll(key)));
  // The terminal is restored even if something else ends the command.
  process.once("SIGTERM", () => quit.abort());
  const leave = screen.enterAlternateScreen();
  table.start();
  try {
    for await (const { event } of liveEvents(connection, stop)) table.apply(event);
  } finally {
    table.stop();
    unlisten();
    leave();
  }
  screen.hint("Running tasks keep running. List them: asyncagents ls");
  return signal.aborted ? EXIT.interrupted : EXIT.ok;
}

/** Returns a function that stops it. In raw mode Ctrl-C is an ordinary key. */
function listenToKeys(press: (key: string) => void): () => void {
  const { stdin } = process;
  if (!stdin.isTTY) return () => {};
  const onKey = (data: Buffer) => {
    for (const key of keysOf(data.toString("latin1"))) press(key);
  };
  stdin.setRawMode(true);
  stdin.on("data", onKey);
  return () => {
    stdin.off("data", onKey);
    stdin.setRawMode(false);
    stdin.pause();
  };
}

class LiveTable {
  readonly #invocation: Invocation;
  readonly #tasks = new Map<string, BackgroundTask>();
  /** All tasks in the store, including those not kept here. */
  #total = 0;
  #note = "";
  /** How many tasks are scrolled off above the screen. */
  #above = 0;
  #due: Timer | null = null;
  #tick: Timer | null = null;
  #offResize: () => void = () => {};

  constructor(invocation: Invocation) {
    this.#invocation = invocation;
  }

  start(): void {
    this.#offResize = this.#invocation.screen.onResize(() => this.#draw());
    // Durations grow without events.
    this.#tick = setInterval(() => this.#draw(), TICK_MS);
    this.#draw();
  }

  stop(): void {
    this.#offResize();
    if (this.#tick) clearInterval(this.#tick);
    if (this.#due) clearTimeout(this.#due);
  }

  apply(event: StreamEvent): void {
    if (event.type === "snapshot") {
      this.#note = "";
      this.#total = event.snapshot.stats.totalTasks;
      this.#tasks.clear();
      for (const task of event.snapshot.tasks) this.#tasks.set(task.id, task);
    } else if ("task" in event) {
      if (event.type === "task.created") this.#total++;
      this.#tasks.set(event.task.id, event.task);
    } else if (event.type === "reconnecting") this.#note = "no connection; retrying";
    if (this.#tasks.size > MAX_TASKS) this.#forgetOldest();
    this.#due ??= setTimeout(() => this.#draw(), REDRAW_MS);
  }

  scroll(key: string): void {
    const lines = scrollOf(key, this.#visible());
    if (lines === 0) return;
    this.#above += lines;
    this.#draw();
  }

  #visible(): number {
    return Math.max(1, this.#invocation.screen.height - FRAME_LINES);
  }

  #forgetOldest(): void {
    const old = [...this.#tasks.values()]
      .filter(({ status }) => !isLive(status))
      .sort(newestFirst)
      .slice(MAX_TASKS / 2);
    for (const { id } of old) this.#tasks.delete(id);
  }

  #draw(): void {
    // A redraw for another reason replaces the scheduled one.
    if (this.#due) clearTimeout(this.#due);
    this.#due = null;
    const { screen, arguments: given } = this.#invocation;
    const { paint, width } = screen;
    const all = [...this.#tasks.values()].filter(({ status }) => !given.flag("live") || isLive(status)).sort(liveFirst);
    this.#above = Math.max(0, Math.min(this.#above, all.length - this.#visible()));
    const rows = all.slice(this.#above, this.#above + this.#visible());
    const live = all.filter(({ status }) => isLive(status)).length;
    const asking = all.filter(({ phase }) => phase === "waiting");
    const counts = `${live} running · ${asking.length} waiting for a person · ${this.#total} in total`;
    const [first] = asking;
    const keys = all.length > rows.length ? "j/k scroll, q quits" : "q quits; tasks keep running";
    const foot = this.#note || (first ? `asyncagents answer ${shortId(first.id)}: ${question(first)}` : keys);
    const lines = [
      `${paint.bold("asyncagents")}  ${paint.dim(cutToWidth(counts, width - 14))}`,
      "",
      ...(rows.length > 0
        ? tableLines(taskTableColumns(paint, Date.now(), width), rows, { width, paint })
        : [paint.dim('No tasks. Launch one: asyncagents run "prompt"')]),
    ];
    const below = all.length - this.#above - rows.length;
    const place = [...(this.#above > 0 ? [`${this.#above} above`] : []), ...(below > 0 ? [`${below} below`] : [])];
    const last = paint.dim(cutToWidth([...place, foot].join(" · "), width));
    screen.draw([...lines, last]);
  }
}

function question(task: BackgroundTask): string {
  return task.phaseDetail?.kind === "waiting" ? oneLine(task.phaseDetail.text) : "";
}

function newestFirst(one: BackgroundTask, other: BackgroundTask): number {
  return other.startedAt.localeCompare(one.startedAt);
}

function liveFirst(one: BackgroundTask, other: BackgroundTask): number {
  return Number(isLive(other.status)) - Number(isLive(one.status)) || newestFirst(one, other);
}
