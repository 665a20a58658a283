/**
 * Holds up the requests of one run to its model until its budgets allow them. What the run has used is stored before
 * each look. If that cannot be found out, no request is held up.
 */
import { messageOf } from "../../model/errors.ts";
import type { RunStep } from "../../model/live-run/effects.ts";
import { isOver, isResting, type LiveRun } from "../../model/live-run/live-run.ts";
import { inspect } from "../../model/live-run/settling.ts";
import type { Task } from "../../model/task.ts";
import type { EngineContext } from "../context.ts";

/** How long requests wait until the first one of a budget is counted, and shows what a request uses. */
const FIRST_REQUEST_MS = 15_000;
/** One of the other requests is not waited for any more each time that so much time has passed: it may wait for us. */
const OTHER_REQUEST_MS = 60_000;
/** The longest pause until a request that waits for others is tried again. */
const CHANGE_MS = 1_000;

/** The run, as far as its requests need it. */
interface AskingRun {
  readonly task: Task;
  readonly live: LiveRun;
  readonly isStopped: boolean;
  perform(step: RunStep): Promise<void>;
  inOrder<T>(work: () => Promise<T>): Promise<T>;
}

export class RequestGate {
  readonly #context: EngineContext;
  readonly #run: AskingRun;
  /** Reads the budgets of all runs, and stops those that they leave nothing. Never rejects. */
  readonly #readBudgets: () => Promise<void>;
  #waiting = 0;

  constructor(context: EngineContext, run: AskingRun, readBudgets: () => Promise<void>) {
    this.#context = context;
    this.#run = run;
    this.#readBudgets = readBudgets;
  }

  get isHolding(): boolean {
    return this.#waiting > 0;
  }

  /** Waits until the budgets allow another request; says why if they never will. */
  mayRequest(): Promise<string | null> {
    this.#waiting++;
    return this.#untilAllowed().finally(() => this.#waiting--);
  }

  async #untilAllowed(): Promise<string | null> {
    const { store, log, monotonic } = this.#context;
    const run = this.#run;
    const { id } = run.task;
    // What its session does while it is paused, somebody else wants.
    const isAtWork = () => !run.isStopped && !isOver(run.live) && !isResting(run.live) && run.live.stopping === null;
    const since = monotonic();
    let isFirst = false;
    while (run.live.budgeting !== null && isAtWork()) {
      await run.perform(inspect(run.live, { name: "usage" }));
      try {
        const disregarded = disregardedAfter(monotonic() - since, isFirst);
        const found = await run.inOrder(() => store.budgets.openRequest(id, disregarded));
        if (found.verdict === "go") return null;
        if (found.verdict === "stop") await this.#readBudgets();
        else {
          ({ isFirst } = found);
          await this.#untilChange();
        }
      } catch (thrown) {
        log.error("the budget of a request could not be read; it is sent", { task: id, error: messageOf(thrown) });
        return null;
      }
    }
    const { stopping } = run.live;
    return stopping?.verdict.outcome === "error" ? stopping.verdict.error : null;
  }

  /** Something was written to the store, or a second is over. */
  #untilChange(): Promise<void> {
    const { store, after } = this.#context;
    const changed = Promise.withResolvers<void>();
    const stop = store.onChange(changed.resolve);
    const cancel = after(CHANGE_MS, changed.resolve);
    return changed.promise.finally(() => {
      stop();
      cancel();
    });
  }
}

function disregardedAfter(waitedMs: number, isFirst: boolean): number {
  if (isFirst && waitedMs > FIRST_REQUEST_MS) return Number.MAX_SAFE_INTEGER;
  return Math.floor(waitedMs / OTHER_REQUEST_MS);
}
