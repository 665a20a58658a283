/** What a supervisor needs of each instance in its process: of an engine, or of one that has no tasks. */
import type { Task } from "../model/task.ts";
import type { FeedEntry, Instance, Launch } from "../store/store.ts";

export interface Member {
  readonly instance: Instance;
  /** Whether it drives that task now. */
  drives(task: Task): boolean;
  /** Acts on an event about one of its tasks: a request to cancel, a new owner, an end. */
  heed(entry: FeedEntry): void;
  /** Delivers the pending notices of that parent, if that is up to this engine. */
  tell(parentSessionId: string): void;
  /** Gives up tasks that are no longer its own, because others thought its process was dead. */
  verify(): Promise<void>;
  /** Looks for runs that it could not store, as far as it knows. False if that is not possible now. */
  settleDoubts(): Promise<boolean>;
  /** Recovers tasks of a dead process. False if some could not be recovered now. */
  recoverTasks(tasks: readonly Task[]): Promise<boolean>;
  /** Recovers a launch of a dead process. False if it could not be recovered now. */
  recoverLaunch(launch: Launch): Promise<boolean>;
}

/** An instance without tasks: others see that it lives, and can send it calls. */
export function memberWithoutTasks(instance: Instance): Member {
  return {
    instance,
    drives: () => false,
    heed() {},
    tell() {},
    async verify() {},
    settleDoubts: async () => true,
    recoverTasks: async () => true,
    recoverLaunch: async () => true,
  };
}
