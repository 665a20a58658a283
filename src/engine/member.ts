/** What a supervisor needs of each engine in its process. The engine keeps it to itself otherwise: doors do not see it. */
import type { Task } from "../model/task.ts";
import type { FeedEntry, Instance, Launch } from "../store/store.ts";

export interface Member {
  readonly instance: Instance;
  /** Whether it drives that task now. */
  drives(task: Task): boolean;
  /** Acts on what was written about its tasks: a request to cancel, another owner, an end. */
  heed(entry: FeedEntry): void;
  /** Delivers what waits for that parent, if that is this engine's job. */
  tell(parentSessionId: string): void;
  /** Lets go of the tasks that are no longer its own: others thought it dead for a while. */
  verify(): Promise<void>;
  /** Puts right tasks whose process died. False if some could not be done now. */
  recoverTasks(tasks: readonly Task[]): Promise<boolean>;
  /** Puts right a launch whose process died before its task was stored. False if it could not be done now. */
  recoverLaunch(launch: Launch): Promise<boolean>;
}
