/**
 * What a person should know about a task while a command follows it: that it asks for something, or that it is
 * retrying, and why. Each is said once: a task that works between two retries for one reason is still retrying. Goes to
 * stderr; changes nothing.
 */
import type { BackgroundTask } from "../../protocol/tasks.ts";
import type { Screen } from "../terminal/screen.ts";
import { askedHint, retryHint } from "../terminal/task-table.ts";

export class TaskHints {
  readonly #screen: Screen;
  readonly #said = new Set<string>();

  constructor(screen: Screen) {
    this.#screen = screen;
  }

  see(task: BackgroundTask): void {
    const asked = askedHint(task);
    const { phaseDetail: detail } = task;
    const what = detail?.kind === "waiting" ? detail.requestId : detail?.kind === "blocked" ? detail.by : "";
    if (asked !== null) this.#say(`${task.id} ${what}`, asked);
    const retry = retryHint(task, Date.now());
    if (retry !== null) this.#say(`${task.id} ${retry}`, retry);
  }

  #say(what: string, hint: string): void {
    if (this.#said.has(what)) return;
    this.#said.add(what);
    this.#screen.hint(hint);
  }
}
