/**
 * Worktrees for tasks without a project: makes one for a launch, and tells what was changed in it. What git does is in
 * `src/worktree/tasks`. A launch that fails leaves no worktree behind; a task that ran keeps its worktree.
 */
import { messageOf } from "../../model/errors.ts";
import type { Task } from "../../model/task.ts";
import { asLine } from "../../model/text/foreign-text.ts";
import { changesText, type TaskChanges } from "../../model/text/task-changes.ts";
import type { Clock } from "../../process/clock.ts";
import { settlesWithin } from "../../process/deadline.ts";
import type { Log } from "../../process/log.ts";
import { isSameMachine } from "../../process/machine.ts";
import type { Store } from "../../store/store.ts";
import type { MayUse } from "../../worktree/make.ts";
import { taskChanges } from "../../worktree/tasks/task-changes.ts";
import {
  dropTaskWorktree,
  makeTaskWorktree,
  type TaskWorktree,
  taskWorktreeAt,
} from "../../worktree/tasks/task-worktree.ts";

/** How long a text may take; the task has ended, and its parent waits for it. */
const TEXT_MS = 10_000;
const LIVE = 200;
const REASON = 300;

export interface TaskWorktreesContext extends Pick<Clock, "after"> {
  store: Store;
  /** Nothing is logged when absent. */
  log?: Pick<Log, "error">;
  /** The folder for all worktrees, an absolute path. */
  worktrees: string;
  /** The machine of this process, where others use the same store; only this one when absent. */
  machine?: string;
}

export class TaskWorktrees {
  readonly #context: TaskWorktreesContext;

  constructor(context: TaskWorktreesContext) {
    this.#context = context;
  }

  /**
   * Makes a worktree from where `directory` is, if that repository may be used, and launches in it. `id` was never used
   * before.
   */
  async launch<Launched>(
    { id, ...place }: { id: string; name: string; directory: string; mayUse: MayUse },
    launch: (worktree: TaskWorktree) => Promise<Launched>,
  ): Promise<Launched> {
    const { worktrees } = this.#context;
    const made = await makeTaskWorktree({ worktrees, id: `task-${id}`, ...place });
    try {
      return await launch(made);
    } catch (thrown) {
      await dropTaskWorktree({ worktrees, id: `task-${id}` }).catch((error: unknown) => {
        this.#context.log?.error("the worktree of a launch that failed stays", { id, error: messageOf(error) });
      });
      throw thrown;
    }
  }

  /** Whether the task has a worktree of its own on this machine. */
  has({ directory, machine }: Pick<Task, "directory" | "machine">): boolean {
    const { worktrees, machine: own = "" } = this.#context;
    return isSameMachine(machine, own) && taskWorktreeAt(worktrees, directory) !== null;
  }

  /** Null if the task has no worktree of its own, or has it on another machine. */
  async changesOf(task: Pick<Task, "id" | "directory" | "machine">): Promise<TaskChanges | null> {
    const { store, worktrees, machine = "" } = this.#context;
    if (!this.has(task)) return null;
    const live = await store.tasks({ status: ["running", "resumed"], limit: LIVE, textChars: 0 });
    const others = live.tasks.filter((each) => each.id !== task.id && isSameMachine(each.machine, machine));
    return taskChanges(worktrees, task.directory, others);
  }

  /** The same as text, soon. Says so if it could not be found out. */
  async textOf(task: Pick<Task, "id" | "directory" | "machine">): Promise<string | null> {
    const reading = this.changesOf(task).then(
      (changes) => (changes === null ? null : changesText(changes)),
      (thrown: unknown) => {
        this.#context.log?.error("what a task changed could not be read", { task: task.id, error: messageOf(thrown) });
        return `What it changed could not be read: ${asLine(messageOf(thrown), REASON)}`;
      },
    );
    if (await settlesWithin(reading, { timeout: TEXT_MS, clock: this.#context })) return reading;
    return `What it changed in ${task.directory} could not be read in time.`;
  }
}
