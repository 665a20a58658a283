/**
 * `watch`: the tasks as a table that is redrawn with every change, on the terminal's second screen, so that the first one is as it
 * was afterwards. Where stdout is no terminal: a line for each change. Reads only.
 */
import type { StreamEvent } from "../client/events.ts";
import type { BackgroundTask, Stats } from "../client/schemas.ts";
import { isLive } from "../model/task.ts";
import type { Command, Invocation } from "./command.ts";
import { EXIT } from "./exit-codes.ts";
import { liveEvents } from "./live-events.ts";
import { tableLines } from "./table.ts";
import { stateOf, taskColumns } from "./task-table.ts";
import { cutToWidth, oneLine, shortId } from "./text.ts";

const REDRAW_MS = 100;
const TICK_MS = 1000;
const MAX_TASKS = 1000;

export const watchCommand: Command = {
  name: "watch",
  summary: "tasks as a live table; q or Ctrl-C leaves",
  options: { live: { summary: "only tasks that run" } },
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
  const pieces = [new Date().toISOString(), type, task.id, stateOf(task), task.agent, task.description];
  return pieces.map(oneLine).join("  ");
}

async function watchTable(invocation: Invocation): Promise<number> {
  const { connection, screen, signal } = invocation;
  const quit = new AbortController();
  const stop = AbortSignal.any([signal, quit.signal]);
  // Opened before the screen is taken over: it may have to say something.
  await connection.client();
  const table = new LiveTable(invocation);
  const unlisten = listenToKeys(() => quit.abort());
  // The terminal is given back also where somebody else ends the command.
  process.once("SIGTERM", () => quit.abort());
  const leave = screen.takeOver();
  table.start();
  try {
    for await (const { event } of liveEvents(connection, stop)) table.take(event);
  } finally {
    table.stop();
    unlisten();
    leave();
  }
  screen.hint("Tasks go on; asyncagents ls lists them.");
  return signal.aborted ? EXIT.interrupted : EXIT.ok;
}

/** Gives the way to stop. In raw mode Ctrl-C is a key like others. */
function listenToKeys(leave: () => void): () => void {
  const { stdin } = process;
  if (!stdin.isTTY) return () => {};
  const onKey = (key: Buffer) => {
    if (["q", "Q", "\x03", "\x1b"].includes(key.toString("latin1"))) leave();
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
  #stats: Stats | null = null;
  #note = "";
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

  take(event: StreamEvent): void {
    if (event.type === "snapshot") {
      this.#note = "";
      this.#stats = event.snapshot.stats;
      this.#tasks.clear();
      for (const task of event.snapshot.tasks) this.#tasks.set(task.id, task);
    } else if ("task" in event) this.#tasks.set(event.task.id, event.task);
    else if (event.type === "reconnecting") this.#note = "no connection; trying again";
    if (this.#tasks.size > MAX_TASKS) this.#forgetOldest();
    this.#due ??= setTimeout(() => this.#draw(), REDRAW_MS);
  }

  #forgetOldest(): void {
    const old = [...this.#tasks.values()]
      .filter(({ status }) => !isLive(status))
      .sort(newestFirst)
      .slice(MAX_TASKS / 2);
    for (const { id } of old) this.#tasks.delete(id);
  }

  #draw(): void {
    this.#due = null;
    const { screen, arguments: given } = this.#invocation;
    const { paint, width, height } = screen;
    const all = [...this.#tasks.values()].filter(({ status }) => !given.flag("live") || isLive(status)).sort(liveFirst);
    const rows = all.slice(0, Math.max(1, height - 4));
    const live = all.filter(({ status }) => isLive(status)).length;
    const asking = all.filter(({ phase }) => phase === "waiting");
    const counts = `${live} running · ${asking.length} waiting for a person · ${this.#stats?.totalTasks ?? all.length} in all`;
    const [first] = asking;
    const foot =
      this.#note || (first ? `asyncagents answer ${shortId(first.id)}: ${question(first)}` : "q leaves; tasks go on");
    const lines = [
      `${paint.bold("asyncagents")}  ${paint.dim(cutToWidth(counts, width - 14))}`,
      "",
      ...(rows.length > 0
        ? tableLines(taskColumns(paint, Date.now(), width), rows, { width, paint })
        : [paint.dim('No tasks. asyncagents run "prompt" launches one.')]),
    ];
    const left = all.length - rows.length;
    const last = paint.dim(cutToWidth(`${left > 0 ? `${left} more · ` : ""}${foot}`, width));
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
