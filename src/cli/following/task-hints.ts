/**
 * What a person should know about a task while a command follows it: that it asks for something, that it is retrying,
 * or that it cannot begin yet, and why. Each is said once: a task that works between two retries for one reason is
 * still retrying. Goes to stderr; changes nothing.
 */
import { isLive } from "../../model/task.ts";
import type { BackgroundTask } from "../../protocol/tasks.ts";
import type { Invocation } from "../command.ts";
import { askedHint, retryHint } from "../terminal/task-table.ts";
import { oneLine } from "../terminal/text.ts";

type Follower = Pick<Invocation, "screen" | "connection">;

export class TaskHints {
  readonly #follower: Follower;
  readonly #said = new Set<string>();

  constructor(follower: Follower) {
    this.#follower = follower;
  }

  see(task: BackgroundTask): void {
    const asked = askedHint(task);
    const { phaseDetail: detail } = task;
    const what = detail?.kind === "waiting" ? detail.requestId : detail?.kind === "blocked" ? detail.by : "";
    if (asked !== null) this.#say(`${task.id} ${what}`, asked);
    const retry = retryHint(task, Date.now());
    if (retry !== null) this.#say(`${task.id} ${retry}`, retry);
    const waits = queuedReason(task, this.#follower);
    if (waits !== null) this.#say(`${task.id} ${waits}`, `"${oneLine(task.description)}" waits: ${waits}`);
  }

  #say(what: string, hint: string): void {
    if (this.#said.has(what)) return;
    this.#said.add(what);
    this.#follower.screen.hint(hint);
  }
}

/** Why no runner has begun it yet, and what to do; null if it does not wait for one. */
export function queuedReason(
  { status, queue }: BackgroundTask,
  { connection }: Pick<Follower, "connection">,
): string | null {
  if (!isLive(status) || !queue?.waitsFor) return null;
  if (connection.isOtherStore) return "It is in the daemon's store: a runner of this shell would not see it.";
  return oneLine(queue.waitsFor);
}
