/**
 * Where a runner's machine has the folder of a claimed run: the folder itself if it is on this machine, else a clone of
 * its repository. Also removes clones that nobody needs any more. What git does is in `src/worktree/clones`.
 */
import { existsSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import type { RunFolder } from "../engine/queue/claimer.ts";
import { assertNotMoved } from "../engine/queue/moved-folder.ts";
import type { Runner } from "../engine/runner.ts";
import { messageOf } from "../model/errors.ts";
import { isLive } from "../model/task.ts";
import { systemClock } from "../process/clock.ts";
import { settlesWithin } from "../process/deadline.ts";
import type { Log } from "../process/log.ts";
import { SerialQueue } from "../process/serial-queue.ts";
import type { ClaimedRun } from "../store/queue/run-queue.ts";
import type { Store } from "../store/store.ts";
import { makeTaskClone } from "../worktree/clones/task-clone.ts";
import { tidyClones } from "../worktree/clones/tidy.ts";
import type { Tidying } from "../worktree/tidying.ts";

interface RunFoldersContext {
  store: Store;
  log: Log;
  /** The data folder. */
  directory: string;
  machine: string;
  /** What keeps engines out of folders that are removed. */
  removal: Pick<Runner, "removing">;
}

/** How many projects are looked at for a repository that this machine has, and for how long that is remembered. */
const PROJECTS = 50;
const KNOWN_MS = 60_000;
const TIDY_MS = 3_600_000;
/** How long a stop waits for the clone that is just being removed. The next runner goes on with it. */
const STOP_MS = 5_000;
/** How often the log says how far a fetch is. */
const REPORT_MS = 10_000;

export class RunFolders {
  readonly #context: RunFoldersContext;
  readonly #base: string;
  readonly #ending = new AbortController();
  readonly #tidying = new SerialQueue();
  #known: { paths: Promise<string[]>; at: number } | null = null;
  #cancel: (() => void) | null = null;

  constructor(context: RunFoldersContext) {
    this.#context = context;
    this.#base = join(context.directory, "clones");
  }

  start(): void {
    void this.#tidy();
    this.#cancel = systemClock.after(TIDY_MS, () => this.start(), { background: true });
  }

  /** Also ends what git fetches. Tidying ends after the clone that it is at. */
  async stop(): Promise<void> {
    this.#cancel?.();
    this.#ending.abort();
    await settlesWithin(this.#tidying.idle(), { timeout: STOP_MS, clock: systemClock });
  }

  /** Rejects a folder of this machine that leads elsewhere than when the run was queued. */
  async folderOf({ task, run }: ClaimedRun): Promise<RunFolder> {
    const { machine } = this.#context;
    const { remote, source } = run;
    if (remote === null || source === null) return folderHere(task.directory);
    if (source.machine === machine && existsSync(source.directory)) return folderHere(source.directory);
    const { directory, branch } = await makeTaskClone({
      base: this.#base,
      // As with sessions: a retry does not get what the first try left.
      id: `${task.id}-${run.retries}`,
      name: task.description,
      remote,
      commit: source.commit,
      path: source.path,
      known: await this.#knownPaths(),
      report: this.#reporter(task.id),
      signal: this.#ending.signal,
    });
    this.#context.log.info("a task works in a clone", { task: task.id, remote, directory, branch });
    return { directory, clone: { hostname: hostname(), remote, branch } };
  }

  /** The repositories of the board's projects, wherever they are. */
  #knownPaths(): Promise<string[]> {
    const now = systemClock.monotonic();
    if (this.#known !== null && now - this.#known.at <= KNOWN_MS) return this.#known.paths;
    const known = { paths: this.#readPaths(), at: now };
    this.#known = known;
    // Whoever asks next reads again.
    known.paths.catch(() => {
      if (this.#known === known) this.#known = null;
    });
    return known.paths;
  }

  async #readPaths(): Promise<string[]> {
    const { board } = this.#context.store;
    const projects = await board.projects({ limit: PROJECTS, after: null });
    const repos = await Promise.all(projects.map(({ id }) => board.reposOf(id, { limit: PROJECTS, after: null })));
    return repos.flat().map(({ path }) => path);
  }

  #reporter(task: string): (line: string) => void {
    let saidAt = Number.NEGATIVE_INFINITY;
    return (line) => {
      const now = systemClock.monotonic();
      const isStep = /^fetch/.test(line);
      if (line === "" || (!isStep && now - saidAt < REPORT_MS)) return;
      saidAt = now;
      this.#context.log.info("getting the repository of a task", { task, progress: line.slice(0, 300) });
    };
  }

  #tidy(): Promise<void> {
    const { store, log, removal } = this.#context;
    const { signal } = this.#ending;
    return this.#tidying.run(async () => {
      const isInUse = async (id: string) => {
        const task = await store.task(id.replace(/-\d+$/, ""));
        return task !== null && isLive(task.status);
      };
      const now = systemClock.now();
      const onFailure = (path: string, thrown: unknown) =>
        log.error("a clone could not be removed", { path, error: messageOf(thrown) });
      const removing: Tidying["removing"] = (path, work) => removal.removing(path, { force: false }, work);
      await tidyClones({ base: this.#base, now, isInUse, removing, onFailure, signal }).then(
        (removed) => removed.length > 0 && log.info("clones were removed that nobody needs", { removed }),
        (thrown: unknown) => log.error("clones could not be tidied up", { error: messageOf(thrown) }),
      );
    });
  }
}

function folderHere(directory: string): RunFolder {
  assertNotMoved(directory);
  return { directory, clone: null };
}
