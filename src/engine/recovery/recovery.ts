/**
 * How one engine recovers what a crash left, or its own failed write. A live task is adopted if its session still
 * works, or if it was paused; otherwise it ends as the session shows. A launch without a task gets one. Never sends a
 * prompt: the first one may have had effects, so an interrupted run ends as interrupted. Two processes may do this at
 * once; the store lets one win. `orphan-sweep.ts` finds the tasks of others.
 */
import { isSessionGone } from "../../hosts/host.ts";
import { messageOf } from "../../model/errors.ts";
import type { TaskEvent } from "../../model/events.ts";
import { type Evidence, endOf, INTERRUPTED, judgeInterrupted, SESSION_DELETED } from "../../model/evidence.ts";
import { goesOn } from "../../model/live-run/pausing.ts";
import { addProgress, fullerProgress } from "../../model/progress.ts";
import type { SteeringMessage } from "../../model/steering.ts";
import { isLive, type Task, usedBefore } from "../../model/task.ts";
import { LimitedQueue } from "../../process/limited-queue.ts";
import type { Launch } from "../../store/store.ts";
import type { EngineContext } from "../context.ts";
import type { Driver } from "../runs/driver.ts";

/** How many tasks are recovered at once. */
const WRITES = 4;

/**
 * A run that this engine was about to drive when the store failed, so that the caller was told an error. Perhaps only
 * the answer was lost, and the store has it.
 */
export interface DoubtfulRun {
  messageId: string;
  /** Null if it has none yet. */
  taskId: string | null;
  /** The launch that it came from, which may still be open. */
  launchId: string | null;
}

export class Recovery {
  readonly #context: EngineContext;
  readonly #driver: Driver;
  readonly #onEnded: (task: Task) => void;
  /** By the ids of their messages. */
  readonly #doubtful = new Map<string, DoubtfulRun>();

  constructor(context: EngineContext, driver: Driver, onEnded: (task: Task) => void) {
    this.#context = context;
    this.#driver = driver;
    this.#onEnded = onEnded;
  }

  /**
   * Ends what was stored of a run whose caller is told an error: now, if it has no task, otherwise with the next
   * recovery. Nobody else does it while this instance lives.
   */
  async giveUp(run: DoubtfulRun): Promise<void> {
    this.#doubtful.set(run.messageId, run);
    if (run.taskId !== null || !(await this.#settleDoubt(run))) this.#context.supervisor.recoverLater();
  }

  /** Ends the doubtful runs that are stored, and closes their launches. False if that is not possible now. */
  async settleDoubts(): Promise<boolean> {
    let isDone = true;
    for (const run of [...this.#doubtful.values()]) isDone = (await this.#settleDoubt(run)) && isDone;
    return isDone;
  }

  async #settleDoubt(run: DoubtfulRun): Promise<boolean> {
    try {
      if (!(await this.#settle(run))) return false;
      this.#doubtful.delete(run.messageId);
      return true;
    } catch (thrown) {
      const { taskId: task, launchId: launch } = run;
      const details = { task, launch, error: messageOf(thrown) };
      this.#context.log.error("a run that may be stored cannot be looked for; it is tried again", details);
      return false;
    }
  }

  async #settle({ taskId, messageId, launchId }: DoubtfulRun): Promise<boolean> {
    const { store, instance } = this.#context;
    const task = taskId === null ? null : await this.#taskAfterWrites(taskId);
    const isStored = task !== null && isLive(task.status) && task.run.messageId === messageId;
    if (isStored && task.owner === instance.id && !this.#driver.drives(task) && !(await this.recoverTasks([task]))) {
      return false;
    }
    if (launchId !== null) await store.closeLaunch(launchId);
    return true;
  }

  /** A write that failed here may still be under way in the database: a transaction begins after it. */
  async #taskAfterWrites(taskId: string): Promise<Task | null> {
    const found: { task: Task | null } = { task: null };
    await this.#context.store.write(async (transaction) => {
      found.task = await transaction.task(taskId);
    });
    return found.task;
  }

  /** False if some could not be recovered now. */
  async recoverTasks(tasks: readonly Task[]): Promise<boolean> {
    const busy = await this.#context.host.statuses();
    const writes = new LimitedQueue(WRITES);
    const recovered = tasks.map((task) => writes.run(() => this.#recoverTask(task, busy.has(task.sessionId))));
    return !(await Promise.all(recovered)).includes(false);
  }

  async #recoverTask(task: Task, isBusy: boolean): Promise<boolean> {
    const { store, log, instance } = this.#context;
    try {
      const said = await store.steering(task.id, task.run.number);
      const evidence = await this.#evidenceOf(task, said);
      // Without its prompt, the session works for somebody else.
      if (isBusy && evidence?.prompted) {
        await this.#adopt(task, task.phase === "paused" ? "paused" : "working");
        return true;
      }
      if (evidence !== null && goesOn(task, evidence)) {
        // An error is judged by the driver, as if it had just come.
        await this.#adopt(task, task.phase !== "paused" && evidence.error ? "working" : "paused");
        return true;
      }
      // Another process may have taken it over since it was read: then nothing is written.
      const { owner, fence } = task;
      await this.#recordDeliveries(task, said, evidence);
      const applied = await store.apply(task.id, this.#endOf(task, evidence), { owner, fence, by: instance.id });
      if (applied.changed) this.#onEnded(applied.task);
      return true;
    } catch (thrown) {
      log.error("a task could not be recovered; it is tried again", { task: task.id, error: messageOf(thrown) });
      return false;
    }
  }

  async #adopt(task: Task, how: "working" | "paused"): Promise<void> {
    try {
      await this.#driver.adopt(task, how);
    } catch (thrown) {
      // If it is this instance's now, it is nobody's orphan any more.
      void this.giveUp({ messageId: task.run.messageId, taskId: task.id, launchId: null });
      throw thrown;
    }
  }

  /** Null if its session is gone. */
  async #evidenceOf({ sessionId, run }: Task, said: readonly SteeringMessage[]): Promise<Evidence | null> {
    const steering = said.flatMap(({ messageId }) => messageId ?? []);
    try {
      return await this.#context.host.inspect(sessionId, run.messageId, steering);
    } catch (thrown) {
      if (isSessionGone(thrown)) return null;
      throw thrown;
    }
  }

  /** What the agent took up before its process died was delivered: the end would call it failed. */
  async #recordDeliveries(task: Task, said: readonly SteeringMessage[], evidence: Evidence | null): Promise<void> {
    const { store, now, instance } = this.#context;
    const { owner, fence } = task;
    const isTaken = ({ state, messageId }: SteeringMessage) =>
      state === "sent" && messageId !== null && evidence?.taken.includes(messageId);
    for (const { id } of said.filter(isTaken)) {
      const event = { type: "steer.delivered", at: now(), run: task.run.number, id } as const;
      await store.apply(task.id, event, { owner, fence, by: instance.id });
    }
  }

  /** How the run of an orphan ended, judged by what its session shows. */
  #endOf({ run, cancelRequestedAt, progress: stored }: Task, evidence: Evidence | null): TaskEvent {
    const base = { at: this.#context.now(), run: run.number };
    if (evidence === null) return endOf({ outcome: "error", error: SESSION_DELETED }, { ...base, progress: null });
    // What was counted before it died stays, where its messages show less: estimates of cost, for example.
    const progress = fullerProgress(stored, addProgress(usedBefore(run), evidence.progress));
    return endOf(judgeInterrupted(evidence, cancelRequestedAt !== null), { ...base, progress });
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
        await store.closeLaunch(launchId, instance.id);
        return true;
      }
      const applied = await store.write(async (transaction) => {
        if (!(await transaction.closeLaunch(launchId, instance.id))) return null;
        await transaction.apply(sessionId, {
          type: "task.created",
          at,
          task: { ...task, id: sessionId, sessionId, owner: null },
          isOver: true,
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
