/**
 * Performs what other processes ask of this one through the store: claims each call, does it, stores the answer. A call
 * that was withdrawn, or that somebody else has claimed, is left alone. What can be done is up to `perform`.
 */
import { AsyncAgentsError, messageOf } from "../../model/errors.ts";
import type { Clock } from "../../process/clock.ts";
import { pause, settlesWithin } from "../../process/deadline.ts";
import type { Log } from "../../process/log.ts";
import { hasPlace } from "../../store/calls/fair-share.ts";
import type { RemoteCall } from "../../store/calls/records.ts";
import type { Store } from "../../store/store.ts";
import { errorText, outputText } from "./call-answer.ts";
import { type Paced, paced } from "./paced.ts";

/** How many calls are performed at once; others wait, and their callers may withdraw them. */
const AT_ONCE = { most: 50, each: 5 };
/** The shortest time between two looks for calls: every change of the store, by any process, causes one. */
const LOOK_MS = 20;
/** A claim that was answered later than this counts only if its caller still waits. */
const LATE_MS = 1_000;
const STORE_TRIES = 3;
const STORE_PAUSE_MS = 1_000;
/** How long calls in progress may take when this process stops. */
const LAST_ANSWERS_MS = 2_000;

interface CallPerformerContext extends Clock {
  store: Store;
  log: Log;
  /** The instances of this process, by id. */
  instances(): readonly string[];
  /** Does what is asked, and returns the answer. Its errors go to the caller. */
  perform(operation: string, input: unknown): Promise<unknown>;
}

export class CallPerformer {
  readonly #context: CallPerformerContext;
  readonly #look: Paced;
  /** By the ids of the calls. */
  readonly #performing = new Map<string, { madeBy: string; done: Promise<void> }>();
  #stopListening: (() => void) | null = null;

  constructor(context: CallPerformerContext) {
    this.#context = context;
    this.#look = paced(context, LOOK_MS, () => this.#claimAll());
  }

  start(): void {
    this.#stopListening ??= this.#context.store.onChange(() => this.#look.soon());
    this.#look.soon();
  }

  /** Begins nothing more. */
  async stop(): Promise<void> {
    this.#stopListening?.();
    this.#stopListening = null;
    this.#look.stop();
    const last = Promise.allSettled([...this.#performing.values()].map(({ done }) => done));
    await settlesWithin(last, { timeout: LAST_ANSWERS_MS, clock: this.#context });
  }

  /** Whose calls are being performed, one entry for each call. */
  get #callers(): string[] {
    return [...this.#performing.values()].map(({ madeBy }) => madeBy);
  }

  async #claimAll(): Promise<void> {
    const { store, log, instances, now } = this.#context;
    const own = instances();
    if (own.length === 0) return;
    try {
      const busy = [...new Set(this.#callers)].filter((caller) => !hasPlace(this.#callers, caller, AT_ONCE));
      for (const call of await store.calls.waitingFor(own, now(), busy)) {
        if (this.#stopListening === null) return;
        const { id, madeBy } = call;
        if (this.#performing.has(id) || !hasPlace(this.#callers, madeBy, AT_ONCE)) continue;
        const ended = () => {
          const wasFull = this.#performing.size >= AT_ONCE.most;
          this.#performing.delete(id);
          if (wasFull) this.#look.soon();
        };
        this.#performing.set(id, { madeBy, done: this.#perform(call).finally(ended) });
      }
    } catch (thrown) {
      // The next change looks again; until then the caller waits, or withdraws the call.
      log.error("calls of other processes could not be read", { error: messageOf(thrown) });
    }
  }

  async #perform({ id, operation, input, madeBy }: RemoteCall): Promise<void> {
    const { store, log, now } = this.#context;
    const since = this.#moment();
    try {
      if (!(await store.calls.claim(id, now()))) return;
      // This process may have been frozen: who gave up has perhaps looked, found nothing done, and tried again.
      const isLate = this.#moment().some((time, clock) => time - (since[clock] ?? 0) > LATE_MS);
      if (isLate && (await store.calls.progress([id])).length === 0) {
        return log.info("a call of another process is too late to be performed", { operation, madeBy });
      }
      const answer = await this.#answerTo(operation, input);
      if (!(await this.#store(id, answer))) log.info("nobody waits for an answer any more", { operation, madeBy });
    } catch (thrown) {
      log.error("a call of another process was not answered", { operation, madeBy, error: messageOf(thrown) });
    }
  }

  /** By both clocks: one stands still while the machine sleeps, and somebody may set the other. */
  #moment(): number[] {
    return [this.#context.monotonic(), this.#context.now()];
  }

  async #answerTo(operation: string, input: string): Promise<string> {
    try {
      return outputText(await this.#context.perform(operation, JSON.parse(input)));
    } catch (thrown) {
      if (!AsyncAgentsError.isInstance(thrown)) {
        const error = thrown instanceof Error ? (thrown.stack ?? "") : messageOf(thrown);
        this.#context.log.error("a call of another process failed", { operation, error });
      }
      return errorText(thrown);
    }
  }

  /** Tried again: without an answer, the caller has to say that it may have been done. */
  async #store(id: string, answer: string): Promise<boolean> {
    for (let tries = 1; ; tries++) {
      try {
        return await this.#context.store.calls.answer(id, answer);
      } catch (thrown) {
        if (tries === STORE_TRIES) throw thrown;
        await pause(STORE_PAUSE_MS, { clock: this.#context });
      }
    }
  }
}
