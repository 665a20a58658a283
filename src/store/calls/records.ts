/**
 * What the store knows about remote calls: what one process asks another to do, with the answer. A call is asked,
 * claimed by the instance that it names, and answered; each step happens once. Whoever asked removes it. No behaviour.
 */

/** `asked`: nobody has begun it. `claimed`: it may have been done. `answered`: done, or failed with an error. */
export type RemoteCallState = "asked" | "claimed" | "answered";

export interface RemoteCall {
  id: string;
  /** The instance that is asked. */
  to: string;
  operation: string;
  /** JSON. */
  input: string;
  /** Who asked: callers take turns. Also for people who look it up. */
  madeBy: string;
}

/** How far a call is; the answer is JSON, and null until then. */
export interface RemoteCallProgress {
  id: string;
  state: RemoteCallState;
  answer: string | null;
}

export interface RemoteCallRecords {
  /**
   * Stores a call that expires after `patience` ms, and removes expired ones. False if too many wait for that instance,
   * and not only few of this caller.
   * `now` is the caller's clock; a store that serves several machines uses its own.
   */
  ask(call: RemoteCall, times: { now: number; patience: number }): Promise<boolean>;
  /**
   * The calls that wait for one of these instances: of each caller the oldest, then the next; at most 50. Leaves out
   * those of some callers.
   */
  waitingFor(instances: readonly string[], now: number, without?: readonly string[]): Promise<RemoteCall[]>;
  /** True for one caller only, and never for a call that was removed or has expired. */
  claim(id: string, now: number): Promise<boolean>;
  /** Answers a claimed call, once. False if nobody waits for the answer any more. */
  answer(id: string, answer: string): Promise<boolean>;
  /** Those of the given calls that are still stored. */
  progress(ids: readonly string[]): Promise<RemoteCallProgress[]>;
  /** Removes a call, in any of these states, and returns how far it was. Null if there is none. */
  remove(id: string, states: readonly RemoteCallState[]): Promise<RemoteCallProgress | null>;
}
