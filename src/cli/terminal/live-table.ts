/**
 * The table of `watch`: keeps the tasks that events tell of, marks those that need a person, and redraws itself. Draws
 * only while it is started.
 */
import type { StreamEvent } from "../../client/event-stream.ts";
import { isLive } from "../../model/task.ts";
import { FAILED_HOURS } from "../../protocol/inbox.ts";
import type { BackgroundTask } from "../../protocol/tasks.ts";
import type { Invocation } from "../command.ts";
import { DAEMON_STOPPED } from "../connection.ts";
import { scrollOf } from "./scroll-keys.ts";
import { tableLines } from "./table.ts";
import { lostReasons, taskTableColumns } from "./task-table.ts";
import { cutToWidth, oneLine, shortId, wrapped } from "./text.ts";

const REDRAW_MS = 100;
const TICK_MS = 1000;
const MAX_TASKS = 1000;
/** Screen lines not used for tasks. */
const FRAME_LINES = 4;
const FAILED_MS = FAILED_HOURS * 3_600_000;

export class LiveTable {
  readonly #invocation: Invocation;
  readonly #onAsked: (task: BackgroundTask) => void;
  readonly #tasks = new Map<string, BackgroundTask>();
  /** All tasks in the store, including those not kept here. */
  #total = 0;
  #note = "";
  /** The budgets that apply to what runs, as one line. */
  budgets = "";
  /** The queue's places of tasks, which events do not have. */
  #places = new Map<string, BackgroundTask["queue"]>();
  /** How many tasks are scrolled off above the screen. */
  #above = 0;
  #due: Timer | null = null;
  #tick: Timer | null = null;
  #offResize: () => void = () => {};

  /** `onAsked`: what this task asks is on the screen. */
  constructor(invocation: Invocation, onAsked: (task: BackgroundTask) => void) {
    this.#invocation = invocation;
    this.#onAsked = onAsked;
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
    } else if (event.type === "reconnecting") {
      this.#note = this.#invocation.connection.isGone() ? DAEMON_STOPPED : "no connection; retrying";
    }
    if (this.#tasks.size > MAX_TASKS) this.#forgetOldest();
    this.#due ??= setTimeout(() => this.#draw(), REDRAW_MS);
  }

  get hasQueued(): boolean {
    return [...this.#tasks.values()].some(({ phase }) => phase === "queued");
  }

  /** Why tasks wait. */
  learnQueue(tasks: readonly BackgroundTask[]): void {
    this.#places = new Map(tasks.map(({ id, queue }) => [id, queue]));
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

  #placed(task: BackgroundTask): BackgroundTask {
    const queue = task.phase === "queued" ? this.#places.get(task.id) : undefined;
    return queue === undefined ? task : { ...task, queue };
  }

  #draw(): void {
    // A redraw for another reason replaces the scheduled one.
    if (this.#due) clearTimeout(this.#due);
    this.#due = null;
    const { screen, arguments: given } = this.#invocation;
    const { paint, width } = screen;
    const all = [...this.#tasks.values()].filter(({ status }) => !given.flag("live") || isLive(status)).sort(liveFirst);
    this.#above = Math.max(0, Math.min(this.#above, all.length - this.#visible()));
    const rows = all.slice(this.#above, this.#above + this.#visible()).map((task) => this.#placed(task));
    const queued = all.filter(({ phase }) => phase === "queued").length;
    const running = all.filter(({ status }) => isLive(status)).length - queued;
    const asking = all.filter(({ phase }) => phase === "waiting");
    const needs = all.filter(needsPerson).length;
    const counts = `${running} running · ${queued === 0 ? "" : `${queued} queued · `}${needs} ${needs === 1 ? "needs" : "need"} you · ${this.#total} in total`;
    const first = asking.at(-1);
    const keys = all.length > rows.length ? "j/k scroll, q quits" : "q quits; tasks keep running";
    const foot = this.#note || (first ? `asyncagents answer ${shortId(first.id)}: ${question(first)}` : keys);
    const now = Date.now();
    const table = tableLines(taskTableColumns(paint, now, width - 2), rows, { width: width - 2, paint });
    const notes = lostReasons(rows, table.slice(1), now).flatMap((reason) => wrapped(reason, width, 2).split("\n"));
    const lines = [
      `${paint.bold("asyncagents")}  ${paint.dim(cutToWidth(counts, width - 14))}`,
      paint.dim(cutToWidth(this.budgets, width)),
      ...(rows.length > 0
        ? table.map((line, at) => `${needsPerson(rows[at - 1]) ? paint.yellow("!") : " "} ${line}`)
        : [paint.dim('No tasks. Launch one: asyncagents run "prompt"')]),
      // Where tasks fill the screen, `ls` and `show` say why they wait.
      ...notes.slice(0, Math.max(0, this.#visible() - rows.length)).map((note) => paint.dim(cutToWidth(note, width))),
    ];
    const below = all.length - this.#above - rows.length;
    const place = [...(this.#above > 0 ? [`${this.#above} above`] : []), ...(below > 0 ? [`${below} below`] : [])];
    const last = paint.dim(cutToWidth([...place, foot].join(" · "), width));
    screen.draw([...lines, last]);
    if (first && !this.#note) this.#onAsked(first);
  }
}

/** It asks something, or it failed and nobody else is told: what `inbox` lists, as far as a task shows it. */
function needsPerson(task: BackgroundTask | undefined): boolean {
  if (task?.phase === "waiting") return true;
  const isUnread = task?.resultRetrievedAt === null && task.clearedAt === null && task.parentSessionID === null;
  return isUnread && task.status === "error" && Date.now() - Date.parse(task.completedAt ?? "") < FAILED_MS;
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
