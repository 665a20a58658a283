/**
 * Asks other processes through the store, and waits for their answers. A call that nobody has begun is withdrawn when
 * its instance is gone or does not react: then nothing was done. If it had begun, the error says that it may have been
 * done. Knows nothing about what is asked.
 */
import { AsyncAgentsError, messageOf } from "../../model/errors.ts";
import type { Clock } from "../../process/clock.ts";
import type { Log } from "../../process/log.ts";
import type { RemoteCallState } from "../../store/calls/records.ts";
import type { Instance, Store } from "../../store/store.ts";
import { readAnswer } from "./call-answer.ts";
import { type Paced, paced } from "./paced.ts";

/** The longest prompt that the doors accept, and more. */
const MAX_INPUT_BYTES = 3_000_000;
/** The shortest time between two looks for answers: there are few, and somebody waits. */
const LOOK_MS = 2;
const ANY: readonly RemoteCallState[] = ["asked", "claimed", "answered"];

/** How long an instance may take, in ms. */
export interface CallPatience {
  /** To begin. */
  claimMs: number;
  /** To answer, counted from the start; longer than the longest wait that an operation may ask for. */
  answerMs: number;
  /** How often it is checked whether the instance lives. */
  checkMs: number;
}

const PATIENCE: CallPatience = { claimMs: 15_000, answerMs: 60_000, checkMs: 1_000 };

export interface RemoteCallsContext extends Clock {
  store: Store;
  log: Log;
  newId(prefix: string): string;
  isAlive(instance: Instance): boolean;
  /** For tests; the usual times when absent. */
  patience?: CallPatience;
}

interface AskedCall {
  operation: string;
  /** What is asked, as JSON. */
  input: unknown;
  /** Who asks, for people who look it up. */
  madeBy: string;
}

interface WaitingCall {
  id: string;
  operation: string;
  to: Instance;
  since: number;
  isClaimed: boolean;
  /** False while it is being stored. */
  isStored: boolean;
  settle(give: () => unknown): void;
}

export class RemoteCalls {
  readonly #context: RemoteCallsContext;
  readonly #patience: CallPatience;
  readonly #waiting = new Map<string, WaitingCall>();
  readonly #look: Paced;
  #stopListening: (() => void) | null = null;
  #cancelCheck: (() => void) | null = null;
  #isChecking = false;

  constructor(context: RemoteCallsContext) {
    this.#context = context;
    this.#patience = context.patience ?? PATIENCE;
    this.#look = paced(context, LOOK_MS, () => this.#readAnswers());
  }

  /** What that instance returns. Rejects with its error, or with one that says whether it may have been done. */
  async call(to: Instance, { operation, input, madeBy }: AskedCall): Promise<unknown> {
    const { monotonic, newId } = this.#context;
    const text = JSON.stringify(input);
    if (Buffer.byteLength(text) > MAX_INPUT_BYTES) {
      const message = `What is sent to another process may have ${MAX_INPUT_BYTES} bytes. Send less.`;
      throw new AsyncAgentsError("too_large", message);
    }
    const id = newId("call");
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const settle = (give: () => unknown) => {
      this.#waiting.delete(id);
      if (this.#waiting.size === 0) this.#rest();
      try {
        resolve(give());
      } catch (thrown) {
        reject(thrown);
      }
    };
    const waiting = { id, operation, to, since: monotonic(), isClaimed: false, isStored: false, settle };
    this.#waiting.set(id, waiting);
    this.#watch();
    // The caller may be told before it is stored: that can take longer than anybody waits for an answer.
    void this.#ask(waiting, { input: text, madeBy });
    return promise;
  }

  async #ask(waiting: WaitingCall, asked: { input: string; madeBy: string }): Promise<void> {
    const { store, now } = this.#context;
    const { id, to, operation, settle } = waiting;
    try {
      const { answerMs: patience } = this.#patience;
      const isStored = await store.calls.ask({ id, to: to.id, operation, ...asked }, { now: now(), patience });
      if (isStored) waiting.isStored = true;
      else settle(() => fail(tooMany(to)));
    } catch (thrown) {
      // Perhaps only the answer was lost: then it must not be done any more.
      await this.#end(waiting, () => fail(thrown));
    }
    this.#look.soon();
  }

  #watch(): void {
    this.#stopListening ??= this.#context.store.onChange(() => this.#look.soon());
    if (this.#isChecking) return;
    this.#cancelCheck ??= this.#context.after(this.#patience.checkMs, () => void this.#checkAll());
  }

  #rest(): void {
    this.#stopListening?.();
    this.#stopListening = null;
    this.#cancelCheck?.();
    this.#cancelCheck = null;
    this.#look.stop();
  }

  async #readAnswers(): Promise<void> {
    const { store, log } = this.#context;
    const stored = [...this.#waiting.values()].filter(({ isStored }) => isStored);
    try {
      const found = new Map((await store.calls.progress(stored.map(({ id }) => id))).map((each) => [each.id, each]));
      for (const waiting of stored) {
        const progress = found.get(waiting.id);
        if (!this.#waiting.has(waiting.id)) continue;
        if (progress === undefined) waiting.settle(() => fail(unknownOutcome(waiting)));
        else if (progress.state === "claimed") waiting.isClaimed = true;
        else if (progress.answer !== null) this.#answered(waiting, progress.answer);
      }
    } catch (thrown) {
      // The next check reads again.
      log.error("answers of other processes could not be read", { error: messageOf(thrown) });
    }
  }

  #answered(waiting: WaitingCall, answer: string): void {
    waiting.settle(() => readAnswer(answer));
    // If it stays, it goes when it has expired.
    this.#context.store.calls.remove(waiting.id, ["answered"]).catch((thrown: unknown) => {
      this.#context.log.error("an answered call stays for a while", { error: messageOf(thrown) });
    });
  }

  /** Repeated while calls wait: instances die, and a change signal can get lost. */
  async #checkAll(): Promise<void> {
    const { store, log, isAlive } = this.#context;
    this.#cancelCheck = null;
    this.#isChecking = true;
    try {
      const living = new Set((await store.instances()).filter(isAlive).map(({ id }) => id));
      await this.#readAnswers();
      for (const waiting of [...this.#waiting.values()]) await this.#check(waiting, living.has(waiting.to.id));
    } catch (thrown) {
      log.error("calls to other processes could not be checked", { error: messageOf(thrown) });
      for (const waiting of [...this.#waiting.values()]) {
        if (this.#ageOf(waiting) > this.#patience.answerMs) waiting.settle(() => fail(unknownOutcome(waiting, thrown)));
      }
    }
    this.#isChecking = false;
    if (this.#waiting.size > 0) this.#watch();
  }

  async #check(waiting: WaitingCall, isLiving: boolean): Promise<void> {
    const { claimMs, answerMs } = this.#patience;
    const age = this.#ageOf(waiting);
    if (!waiting.isStored || !this.#waiting.has(waiting.id)) return;
    if (!isLiving) return this.#end(waiting, () => fail(gone(waiting)));
    if (age > answerMs) return this.#end(waiting, () => fail(notTaken(waiting)));
    if (waiting.isClaimed || age <= claimMs) return;
    const withdrawn = await this.#context.store.calls.remove(waiting.id, ["asked"]);
    if (withdrawn !== null) waiting.settle(() => fail(notTaken(waiting)));
  }

  #ageOf({ since }: WaitingCall): number {
    return this.#context.monotonic() - since;
  }

  /** Removes the call, however far it is. `withdrawn` says what is told if nobody had begun it. */
  async #end(waiting: WaitingCall, withdrawn: () => never): Promise<void> {
    try {
      const progress = await this.#context.store.calls.remove(waiting.id, ANY);
      if (progress?.state === "asked" || (progress === null && !waiting.isStored)) waiting.settle(withdrawn);
      else if (progress?.answer != null) waiting.settle(() => readAnswer(progress.answer ?? ""));
      else waiting.settle(() => fail(unknownOutcome(waiting)));
    } catch (thrown) {
      waiting.settle(() => fail(unknownOutcome(waiting, thrown)));
    }
  }
}

function fail(thrown: unknown): never {
  throw thrown;
}

function gone({ to }: WaitingCall): AsyncAgentsError {
  const message = `Only process ${to.pid} can do this (${to.host} in ${to.directory}), and it has ended. Nothing was done. Try again.`;
  return new AsyncAgentsError("host_unavailable", message, { details: { pid: to.pid, instance: to.id } });
}

function notTaken({ to }: WaitingCall): AsyncAgentsError {
  const message = `Only process ${to.pid} can do this (${to.host} in ${to.directory}), and it does not react. Nothing was done. Try again when it does.`;
  return new AsyncAgentsError("host_unavailable", message, { details: { pid: to.pid, instance: to.id } });
}

function tooMany({ pid, id }: Instance): AsyncAgentsError {
  const message = `Too many calls wait for process ${pid}. Nothing was done. Try again in a moment.`;
  return new AsyncAgentsError("too_many_requests", message, { details: { pid, instance: id } });
}

function unknownOutcome({ to, operation }: WaitingCall, cause?: unknown): AsyncAgentsError {
  const message = `Process ${to.pid} was asked for ${operation} and gave no answer: it may have been done. Look before you try again.`;
  return new AsyncAgentsError("outcome_unknown", message, { details: { pid: to.pid, instance: to.id }, cause });
}
