/**
 * What a crash left behind, put right: live tasks whose instance is gone, launches whose session has no task, notices
 * that were on their way. Runs at start and whenever a foreign instance may have died. Never prompts: a prompt may
 * have had effects, so an interrupted run ends as such. Two processes may do this at once; the store lets one win.
 */
import { AsyncAgentsError, messageOf } from "../../model/errors.ts";
import type { TaskEvent } from "../../model/events.ts";
import { endOf, INTERRUPTED, judgeInterrupted, SESSION_DELETED } from "../../model/evidence.ts";
import { addProgress } from "../../model/progress.ts";
import type { Task } from "../../model/task.ts";
import type { Launch } from "../../store/store.ts";
import type { EngineContext } from "../context.ts";
import type { Driver } from "../runs/driver.ts";
import { findOrphans } from "./orphans.ts";

export class Recovery {
  readonly #context: EngineContext;
  readonly #driver: Driver;
  readonly #onEnded: (task: Task) => void;

  constructor(context: EngineContext, driver: Driver, onEnded: (task: Task) => void) {
    this.#context = context;
    this.#driver = driver;
    this.#onEnded = onEnded;
  }

  /**
   * Puts right what dead instances left. Says whether other living instances remain to be watched, and whether something could
   * not be put right now.
   */
  async run(): Promise<{ foreign: boolean; failed: boolean }> {
    const { store, host, instance, isAlive, log } = this.#context;
    const found = await findOrphans(store, (known) => known.id === instance.id || isAlive(known));
    const isOurs = (task: Task) => task.owner === instance.id || this.#driver.drives(task);
    const orphans = found.tasks.filter((task) => task.host === host.kind && !isOurs(task));
    let failed = orphans.length > 0 && !(await this.#recoverAll(orphans));
    for (const launch of found.launches) {
      if (launch.owner !== instance.id && !(await this.#recoverLaunch(launch))) failed = true;
    }
    for (const known of found.dead) {
      await store.endInstance(known.id);
      log.info("an instance is gone; what it left was put right", { instance: known.id, pid: known.pid });
    }
    return { foreign: found.living.some(({ id }) => id !== instance.id), failed };
  }

  /** Says whether all could be done. */
  async #recoverAll(tasks: readonly Task[]): Promise<boolean> {
    const { store, host, log } = this.#context;
    let isDone = true;
    const busy = await host.statuses();
    for (const task of tasks) {
      try {
        if (busy.has(task.sessionId)) {
          await this.#driver.adopt(task);
          continue;
        }
        // Somebody else may have taken it over since it was read: then it is theirs.
        const applied = await store.apply(task.id, await this.#endOf(task), { owner: task.owner });
        if (applied.changed) this.#onEnded(applied.task);
      } catch (thrown) {
        log.error("a task could not be recovered; it is tried again", { task: task.id, error: messageOf(thrown) });
        isDone = false;
      }
    }
    return isDone;
  }

  /** How the run of an orphan ended, by what its session shows. */
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

  /** False where it could not be done now. */
  async #recoverLaunch(launch: Launch): Promise<boolean> {
    const { store, host, now, log, instance } = this.#context;
    // A host finds sessions of its own directory only.
    if (launch.host !== host.kind || launch.directory !== instance.directory) return true;
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
      // Its task is there: the launch came through after all, and the task is left alone.
      else if (applied.reason === "exists") await store.closeLaunch(launchId);
      return true;
    } catch (thrown) {
      log.error("a launch could not be recovered; it is tried again", { launch: launchId, error: messageOf(thrown) });
      return false;
    }
  }
}
