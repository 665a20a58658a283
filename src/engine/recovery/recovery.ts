/**
 * How one engine recovers what a crash left. A live task is adopted if its session still works, otherwise it ends as
 * the session shows. A launch without a task gets one. Never sends a prompt: the first one may have had effects, so an
 * interrupted run ends as interrupted. Two processes may do this at once; the store lets one win. `orphan-sweep.ts`
 * finds the tasks.
 */
import { AsyncAgentsError, messageOf } from "../../model/errors.ts";
import type { TaskEvent } from "../../model/events.ts";
import { endOf, INTERRUPTED, judgeInterrupted, SESSION_DELETED } from "../../model/evidence.ts";
import { addProgress } from "../../model/progress.ts";
import type { Task } from "../../model/task.ts";
import type { Launch } from "../../store/store.ts";
import type { EngineContext } from "../context.ts";
import type { Driver } from "../runs/driver.ts";

export class Recovery {
  readonly #context: EngineContext;
  readonly #driver: Driver;
  readonly #onEnded: (task: Task) => void;

  constructor(context: EngineContext, driver: Driver, onEnded: (task: Task) => void) {
    this.#context = context;
    this.#driver = driver;
    this.#onEnded = onEnded;
  }

  /** False if some could not be recovered now. */
  async recoverTasks(tasks: readonly Task[]): Promise<boolean> {
    const { store, host, log } = this.#context;
    let isDone = true;
    const busy = await host.statuses();
    for (const task of tasks) {
      try {
        if (busy.has(task.sessionId)) {
          await this.#driver.adopt(task);
          continue;
        }
        // Another process may have taken it over since it was read: then nothing is written.
        const applied = await store.apply(task.id, await this.#endOf(task), { owner: task.owner });
        if (applied.changed) this.#onEnded(applied.task);
      } catch (thrown) {
        log.error("a task could not be recovered; it is tried again", { task: task.id, error: messageOf(thrown) });
        isDone = false;
      }
    }
    return isDone;
  }

  /** How the run of an orphan ended, judged by what its session shows. */
  async #endOf(task: Task): Promise<TaskEvent> {
    const base = { at: this.#context.now(), run: task.run.number };
    try {
      const evidence = await this.#context.host.inspect(task.sessionId, task.run.messageId);
      const progress = addProgress(task.run.before, evidence.progress);
      return endOf(judgeInterrupted(evidence, task.cancelRequestedAt !== null), { ...base, progress });
    } catch (thrown) {
      if (!AsyncAgentsError.isInstance(thrown) || thrown.code !== "session_gone") throw thrown;
      return endOf({ outcome: "error", error: SESSION_DELETED }, { ...base, progress: null });
    }
  }

  /** For a launch of this host in this directory. False if it could not be recovered now. */
  async recoverLaunch(launch: Launch): Promise<boolean> {
    const { store, host, now, log, instance } = this.#context;
    // The directory was moved: no host finds its session any more.
    if (launch.directory !== instance.directory) return true;
    const { id: launchId, owner, at, ...task } = launch;
    try {
      const sessionId = (await host.findLaunched?.({ launchId, parentSessionId: launch.parentSessionId, at })) ?? null;
      if (sessionId === null) {
        log.info("a launch was interrupted before its session was made", { launch: launchId, owner });
        await store.closeLaunch(launchId);
        return true;
      }
      const applied = await store.write(async (transaction) => {
        if (!(await transaction.closeLaunch(launchId))) return null;
        await transaction.apply(sessionId, {
          type: "task.created",
          at,
          task: { ...task, id: sessionId, sessionId, owner: null },
        });
        return transaction.apply(sessionId, {
          type: "run.failed",
          at: now(),
          run: 0,
          error: INTERRUPTED,
          progress: null,
        });
      });
      if (applied === null) return true;
      if (applied.changed) this.#onEnded(applied.task);
      // Its task exists: the launch succeeded after all.
      else if (applied.reason === "exists") await store.closeLaunch(launchId);
      return true;
    } catch (thrown) {
      log.error("a launch could not be recovered; it is tried again", { launch: launchId, error: messageOf(thrown) });
      return false;
    }
  }
}
