/**
 * Work at the host that no run stands behind any more: its run was taken by another process, or ended before its prompt
 * arrived. It is stopped, with retries and growing pauses, unless the session gets a new run meanwhile. A prompt that
 * was given up is stopped when it arrives after all. Says nothing about tasks.
 */
import { isSessionGone } from "../../hosts/host.ts";
import { messageOf } from "../../model/errors.ts";
import type { EngineContext } from "../context.ts";

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 60_000;
/** For about a day: until then, an agent works and costs money for nobody. */
const TRIES = 1_440;
const MAX_EXPECTED = 1_000;

interface SessionMessage {
  sessionId: string;
  messageId: string;
}

export class Leftovers {
  readonly #context: EngineContext;
  readonly #isInUse: (sessionId: string) => boolean;
  /** Cancel the next try, by session. */
  readonly #pausing = new Map<string, () => void>();
  /** Stops that are under way, by session. */
  readonly #stopping = new Map<string, Promise<void>>();
  /** Prompts that were given up, by their messages' ids. `isThere`: it waits in its session, beside a run. */
  readonly #expected = new Map<string, { sessionId: string; isThere: boolean }>();
  #closed = false;

  /** `isInUse`: the session has a live run of ours, which must not be stopped. */
  constructor(context: EngineContext, isInUse: (sessionId: string) => boolean) {
    this.#context = context;
    this.#isInUse = isInUse;
  }

  /** Beside a live run of the session, the prompt with that message is stopped when the agent takes it up. */
  stop(sessionId: string, messageId: string): void {
    if (!this.#isInUse(sessionId)) void this.#try(sessionId, 1);
    else if (!this.#expected.has(messageId)) this.#expect(messageId, { sessionId, isThere: true });
  }

  /** Does the work when no stop of that session is under way: it would stop what begins now. */
  afterStop(sessionId: string, work: () => void): void {
    const stopping = this.#stopping.get(sessionId);
    if (stopping === undefined) work();
    else void stopping.then(() => this.afterStop(sessionId, work));
  }

  /** Stops this prompt should it still arrive; if it is there already, when the agent takes it up. */
  expect(messageId: string, sessionId: string, isThere = false): void {
    this.#expect(messageId, { sessionId, isThere });
  }

  /**
   * A message was added to a session: stops it if it was given up. Beside a live run it waits there. Its agent may
   * begin only after this stop: then it is stopped again.
   */
  added(message: SessionMessage): void {
    const expected = this.#expectedOf(message);
    // A message that is there may be reported again, while a person uses the session.
    if (expected === undefined || expected.isThere) return;
    expected.isThere = true;
    if (!this.#isInUse(message.sessionId)) void this.#try(message.sessionId, 1);
  }

  /** An agent took a message up: stops it if it was given up, unless that would stop a live run as well. */
  taken(message: SessionMessage): void {
    if (this.#expectedOf(message) === undefined) return;
    this.#expected.delete(message.messageId);
    void this.#try(message.sessionId, 1);
  }

  /** Lets a run of that session begin only after this abort of a run before it. Settles with the abort. */
  async during(sessionId: string, aborting: Promise<void>): Promise<void> {
    const over = Promise.allSettled([this.#stopping.get(sessionId), aborting]).then(() => {});
    this.#stopping.set(sessionId, over);
    await over;
    if (this.#stopping.get(sessionId) === over) this.#stopping.delete(sessionId);
    await aborting;
  }

  /** Gives up on all of them: the process ends. */
  close(): void {
    this.#closed = true;
    for (const cancel of this.#pausing.values()) cancel();
    this.#pausing.clear();
  }

  async #try(sessionId: string, count: number): Promise<void> {
    this.#pausing.get(sessionId)?.();
    this.#pausing.delete(sessionId);
    if (this.#closed || this.#isInUse(sessionId)) return;
    const { host, log, after } = this.#context;
    try {
      await this.during(sessionId, host.abort(sessionId));
    } catch (thrown) {
      if (isSessionGone(thrown)) return;
      const isLast = count >= TRIES;
      const next = isLast ? "it is left alone now" : "it is tried again";
      log.error(`a session without a run could not be stopped; ${next}`, { sessionId, error: messageOf(thrown) });
      if (isLast || this.#closed) return;
      const pause = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (count - 1));
      const again = () => void this.#try(sessionId, count + 1);
      this.#pausing.set(sessionId, after(pause, again));
    }
  }

  /** Undefined also for a message with such an id in another session. */
  #expectedOf({ messageId, sessionId }: SessionMessage): { sessionId: string; isThere: boolean } | undefined {
    const expected = this.#expected.get(messageId);
    return expected?.sessionId === sessionId ? expected : undefined;
  }

  #expect(messageId: string, expected: { sessionId: string; isThere: boolean }): void {
    this.#expected.set(messageId, expected);
    const oldest = this.#expected.keys().next().value;
    if (this.#expected.size > MAX_EXPECTED && oldest !== undefined) this.#expected.delete(oldest);
  }
}
