/**
 * Short words on OpenCode's screen when tasks begin and end. Never more than one a second: what comes in between is
 * said together. Purely for the eye: a toast that cannot be shown is forgotten.
 */
import type { OpenCodeSend } from "../hosts/opencode-transport.ts";
import { isLive, type Task } from "../model/task.ts";

export interface Toast {
  message: string;
  variant: "info" | "success" | "error" | "warning";
}

const GAP_MS = 1000;
const SHOWN = 3;

export class Toasts {
  readonly #send: OpenCodeSend;
  #waiting: Toast[] = [];
  #timer: ReturnType<typeof setTimeout> | null = null;
  #last = 0;

  readonly #enabled: boolean;

  constructor(send: OpenCodeSend, enabled: boolean) {
    this.#send = send;
    this.#enabled = enabled;
  }

  show(toast: Toast): void {
    if (!this.#enabled) return;
    this.#waiting.push(toast);
    if (this.#timer) return;
    this.#timer = setTimeout(() => this.#flush(), Math.max(0, this.#last + GAP_MS - Date.now()));
  }

  stop(): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#waiting = [];
  }

  #flush(): void {
    const toasts = this.#waiting;
    this.#waiting = [];
    this.#timer = null;
    this.#last = Date.now();
    const more = toasts.length - SHOWN;
    const lines = toasts.slice(0, SHOWN).map((toast) => toast.message);
    if (more > 0) lines.push(`… and ${more} more`);
    const worst = toasts.find((toast) => toast.variant === "error") ?? toasts.at(-1);
    const body = { title: "Background tasks", message: lines.join("\n"), variant: worst?.variant ?? "info" };
    this.#send({ method: "POST", path: "/tui/show-toast", body }).catch(() => undefined);
  }
}

export function launchToast(task: Task): Toast {
  return { message: `${task.run.number > 0 ? "Resumed" : "Launched"}: ${task.description}`, variant: "info" };
}

export function endToast(task: Task): Toast {
  if (isLive(task.status)) return { message: `Needs attention: ${task.description}`, variant: "warning" };
  if (task.status === "completed") return { message: `Finished: ${task.description}`, variant: "success" };
  if (task.status === "cancelled") return { message: `Cancelled: ${task.description}`, variant: "info" };
  return { message: `Failed: ${task.description}`, variant: "error" };
}
