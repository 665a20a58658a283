/**
 * Short messages on OpenCode's screen when tasks start and end. At most one per second: what happens in between is
 * combined. Purely visual: a toast that cannot be shown is dropped.
 */
import type { AsyncAgentsError } from "../model/errors.ts";
import { isLive, type Task } from "../model/task.ts";
import { asLine } from "../model/text/foreign-text.ts";

interface Toast {
  message: string;
  variant: "info" | "success" | "error" | "warning";
}

/** The clock, so that a test can control time. */
interface ToastClock {
  now(): number;
  later(work: () => void, ms: number): ReturnType<typeof setTimeout>;
}

const REAL: ToastClock = { now: Date.now, later: (work, ms) => setTimeout(work, ms) };
const GAP_MS = 1000;
/** A toast is a request to OpenCode: it waits until the work it reports on is out of the way. */
const PAUSE_MS = 300;
const SHOWN = 3;
const MAX_WAITING = 200;
const DESCRIPTION = 200;
const PROBLEM = 300;
const URGENCY: readonly Toast["variant"][] = ["error", "warning", "success", "info"];

export class Toasts {
  readonly #post: (body: object) => Promise<unknown>;
  #waiting: Toast[] = [];
  #timer: ReturnType<typeof setTimeout> | null = null;
  #last = 0;

  readonly #enabled: boolean;
  readonly #clock: ToastClock;

  constructor(post: (body: object) => Promise<unknown>, enabled: boolean, clock: ToastClock = REAL) {
    this.#post = post;
    this.#enabled = enabled;
    this.#clock = clock;
  }

  show(toast: Toast): void {
    if (!this.#enabled) return;
    if (this.#waiting.length < MAX_WAITING) this.#waiting.push(toast);
    if (this.#timer !== null) return;
    const wait = Math.max(PAUSE_MS, this.#last + GAP_MS - this.#clock.now());
    this.#timer = this.#clock.later(() => this.#flush(), wait);
  }

  stop(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#waiting = [];
  }

  #flush(): void {
    const toasts = this.#waiting;
    this.#waiting = [];
    this.#timer = null;
    this.#last = this.#clock.now();
    const urgent = toasts.toSorted((a, b) => URGENCY.indexOf(a.variant) - URGENCY.indexOf(b.variant));
    const lines = urgent.slice(0, SHOWN).map((toast) => toast.message);
    if (urgent.length > SHOWN) lines.push(`… and ${urgent.length - SHOWN} more`);
    const body = { title: "Background tasks", message: lines.join("\n"), variant: urgent[0]?.variant ?? "info" };
    this.#post(body).catch(() => undefined);
  }
}

export function launchToast(task: Task): Toast {
  return { message: `${task.run.number > 0 ? "Resumed" : "Launched"}: ${nameOf(task)}`, variant: "info" };
}

export function endToast(task: Task): Toast {
  if (isLive(task.status)) return { message: `Needs attention: ${nameOf(task)}`, variant: "warning" };
  if (task.status === "completed") return { message: `Finished: ${nameOf(task)}`, variant: "success" };
  if (task.status === "cancelled") return { message: `Cancelled: ${nameOf(task)}`, variant: "info" };
  return { message: `Failed: ${nameOf(task)}`, variant: "error" };
}

/** For people who have the plugin from before there was a panel. */
export function panelToast(): Toast {
  const how = "run `asyncagents install opencode` and restart OpenCode";
  return { message: `New: a panel shows background tasks here. To get it, ${how}.`, variant: "info" };
}

/** The whole message is in the log, and in the answer of every tool. */
export function settingsToast({ details }: AsyncAgentsError): Toast {
  const [first = ""] = details.problems as string[];
  return { message: `No background tasks until this is corrected: ${asLine(first, PROBLEM)}`, variant: "error" };
}

/** One line: a model wrote it, and a second line would look like a toast of ours. */
function nameOf(task: Task): string {
  return asLine(task.description, DESCRIPTION);
}
