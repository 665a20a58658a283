/**
 * The telemetry of one process: listens to what it writes to the store, and reports ended runs, launches and notices,
 * off the path of whoever writes. A bounded number of runs waits to be reported. Sets nothing up: the user's module
 * does that (`open-telemetry.ts`).
 */
import { messageOf } from "../../model/errors.ts";
import { PHASES, type Task } from "../../model/task.ts";
import { settlesWithin } from "../../process/deadline.ts";
import { LimitedQueue } from "../../process/limited-queue.ts";
import type { Store } from "../../store/store.ts";
import type { Engine } from "../engine.ts";
import { allTasks } from "../watching/all-tasks.ts";
import { observedStore } from "./observed-store.ts";
import { type ReporterContext, RunReporter } from "./run-reporter.ts";
import type { ReadPage } from "./tool-calls.ts";

/** How many runs are reported at a time, and how many more wait. */
const AT_ONCE = 4;
const MOST_WAITING = 500;
/** How long a process that ends waits for what is being reported, and for what is being sent. */
const REPORT_MS = 2_000;
const SEND_MS = 3_000;

/** What it needs of an engine. */
export type FollowedEngine = Pick<Engine, "instance" | "messages">;

export interface TelemetryContext extends Omit<ReporterContext, "pagesOf"> {
  /** Sends what is left; the user's module gave it. */
  shutdown(): Promise<void>;
}

export class Telemetry {
  /** To be used in place of the plain store. */
  readonly store: Store;
  readonly #context: TelemetryContext;
  readonly #engines = new Map<string, FollowedEngine>();
  readonly #reports = new LimitedQueue(AT_ONCE);
  #waiting = 0;

  constructor(context: TelemetryContext) {
    this.#context = context;
    const { instruments } = context;
    const reporter = new RunReporter({ ...context, pagesOf: (task) => this.#pagesOf(task) });
    this.store = observedStore(context.store, {
      launched: ({ host }) => this.#measure(() => instruments.launched.add(1, { "asyncagents.host": host })),
      ended: (task) => this.#report(reporter, task),
      noticesSettled: (state, notices, at) =>
        this.#measure(() => {
          instruments.noticeMessages.add(1, { "asyncagents.notice.state": state });
          if (state === "dropped") return;
          for (const { createdAt } of notices) instruments.noticeDelay.record(Math.max(0, at - createdAt) / 1000);
        }),
      instanceEnded: (id) => this.#engines.delete(id),
    });
    instruments.live.addCallback(async (result) => {
      const counts = await this.#liveByPhase();
      for (const [phase, count] of counts) result.observe(count, { "asyncagents.phase": phase });
    });
  }

  /** From now on, the sessions of that engine's runs are read when they end. */
  follow(engine: FollowedEngine): void {
    this.#engines.set(engine.instance.id, engine);
  }

  /** Resolves when what has ended is reported, at most after a moment. Before a host is closed. */
  async idle(): Promise<void> {
    await settlesWithin(this.#reports.idle(), { timeout: REPORT_MS, clock: this.#context });
  }

  /** Reports and sends what is left, as far as that is quick. Before the store is closed. Never rejects. */
  async stop(): Promise<void> {
    const { log, shutdown } = this.#context;
    await this.idle();
    const sent = shutdown().catch((thrown: unknown) => {
      log.error("the last telemetry was not sent", { error: messageOf(thrown) });
    });
    if (await settlesWithin(sent, { timeout: SEND_MS, clock: this.#context })) return;
    log.error("the last telemetry was not sent in time", {});
  }

  /** The SDK is the user's: whatever it throws, what was written is written, and its writer must not hear otherwise. */
  #measure(measure: () => void): void {
    try {
      measure();
    } catch (thrown) {
      this.#context.log.error("something was not measured", { error: messageOf(thrown) });
    }
  }

  #report(reporter: RunReporter, task: Task): void {
    if (this.#waiting >= MOST_WAITING) {
      this.#context.log.error("a run is missing in the telemetry: too many wait to be reported", { task: task.id });
      return;
    }
    this.#waiting++;
    void this.#reports.run(() => reporter.report(task)).finally(() => this.#waiting--);
  }

  #pagesOf({ host, directory, sessionId }: Task): ReadPage | null {
    const isOf = ({ instance }: FollowedEngine) => instance.host === host && instance.directory === directory;
    const engine = [...this.#engines.values()].findLast(isOf);
    return engine === undefined ? null : (page) => engine.messages(sessionId, page);
  }

  async #liveByPhase(): Promise<Map<string, number>> {
    const counts = new Map<string, number>(PHASES.map((phase) => [phase, 0]));
    for (const owner of this.#engines.keys()) {
      for (const { phase } of await allTasks(this.#context.store, { owner, status: ["running", "resumed"] })) {
        if (phase !== null) counts.set(phase, (counts.get(phase) ?? 0) + 1);
      }
    }
    return counts;
  }
}
