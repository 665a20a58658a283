/**
 * What a person should know about a task while a command follows it: that it asks for something, or that it is
 * retrying, and why. Each is said once, and a retry again when its reason changes. Goes to stderr; changes nothing.
 */
import type { BackgroundTask } from "../../protocol/tasks.ts";
import type { Screen } from "../terminal/screen.ts";
import { askedHint, retryHint } from "../terminal/task-table.ts";

export class TaskHints {
  readonly #screen: Screen;
  readonly #asked = new Set<string>();
  /** The last one of each task that is retrying. */
  readonly #retries = new Map<string, string>();

  constructor(screen: Screen) {
    this.#screen = screen;
  }

  see(task: BackgroundTask): void {
    const asked = askedHint(task);
    const request = task.phaseDetail?.kind === "waiting" ? `${task.id} ${task.phaseDetail.requestId}` : "";
    if (asked !== null && !this.#asked.has(request)) this.#screen.hint(asked);
    this.#asked.add(request);
    const retry = retryHint(task);
    if (retry === null) this.#retries.delete(task.id);
    else if (this.#retries.get(task.id) !== retry) {
      this.#retries.set(task.id, retry);
      this.#screen.hint(retry);
    }
  }
}
