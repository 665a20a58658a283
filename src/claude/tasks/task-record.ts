/**
 * Everything known about one task: its runs, by id. Run ids sort in order of the runs, so the greatest is the current
 * one. A message that names an earlier run is late: it may end that run, and never affects the current one.
 */
import { type RunTimeouts, type TaskOutcome, TaskRun } from "./task-run.ts";

const KEPT_RUNS = 50;

/** Which run a message concerns. */
export interface RunName {
  runId: string | undefined;
  /** Set if the message opens a run. */
  startUuid?: string;
}

/** The runs of one task. */
export class TaskRecord {
  readonly id: string;
  readonly #timeouts: RunTimeouts;
  readonly #onSettled: (run: TaskRun, outcome: TaskOutcome) => void;
  /** Oldest first. */
  #runs: TaskRun[] = [];
  /** The greatest key that was dropped: runs up to it are never opened again. */
  #floor: string | undefined;

  constructor(
    id: string,
    timeouts: RunTimeouts,
    floor: string | undefined,
    onSettled: (run: TaskRun, outcome: TaskOutcome) => void,
  ) {
    this.id = id;
    this.#timeouts = timeouts;
    this.#floor = floor;
    this.#onSettled = onSettled;
  }

  get current(): TaskRun | undefined {
    return this.#runs.at(-1);
  }

  get live(): TaskRun[] {
    return this.#runs.filter((run) => run.isLive);
  }

  get unsettled(): TaskRun[] {
    return this.#runs.filter((run) => !run.isSettled);
  }

  /** The run that a message concerns, opened if necessary; undefined if the message is too late to matter. */
  run({ runId, startUuid }: RunName): TaskRun | undefined {
    return runId === undefined ? this.#unnamed(startUuid) : this.#named(runId);
  }

  #unnamed(startUuid: string | undefined): TaskRun | undefined {
    const { current } = this;
    if (!current) return this.#floor === undefined ? this.#open(undefined) : undefined;
    const isAnotherStart =
      startUuid !== undefined && current.startUuid !== undefined && current.startUuid !== startUuid;
    return isAnotherStart && !current.isLive ? this.#open(undefined, `${current.key}+`) : current;
  }

  #named(runId: string): TaskRun | undefined {
    const known = this.#runs.find((run) => run.isNamed && run.key === runId);
    if (known) return known;
    if (this.#floor !== undefined && runId <= this.#floor) return undefined;
    const { current } = this;
    if (current && !current.isNamed && current.isLive) {
      current.key = runId;
      current.isNamed = true;
      return current;
    }
    return this.#open(runId);
  }

  #open(runId: string | undefined, key = runId ?? ""): TaskRun {
    const run = new TaskRun(this.id, runId, this.#timeouts, this.#onSettled);
    run.key = key;
    // A resumed agent keeps its description.
    if (this.current) run.learn(this.current.facts);
    this.#runs.push(run);
    this.#runs.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
    const [oldest] = this.#runs;
    if (this.#runs.length > KEPT_RUNS && oldest?.isSettled) {
      this.#runs.shift();
      this.#floor = oldest.key;
    }
    return run;
  }
}
