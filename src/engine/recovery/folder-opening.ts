/**
 * Opens hosts in folders that runs are bound to, where no living process has them open: whoever was to begin these runs
 * is gone, or was closed because it had nothing to do. The engine that is opened begins them itself. Runs of a folder
 * that leads elsewhere now are ended.
 */
import { messageOf } from "../../model/errors.ts";
import type { Log } from "../../process/log.ts";
import type { HostFolder } from "../../store/queue/run-queue.ts";
import type { Instance, Store } from "../../store/store.ts";
import { failClaimed } from "../queue/claimer.ts";
import { assertNotMoved } from "../queue/moved-folder.ts";
import type { HostOpener } from "./orphan-sweep.ts";

/** How long a folder that could not be opened is not tried again. */
const REST_MS = 60_000;
const MOST_ENDED = 1_000;

interface OpeningContext {
  store: Store;
  log: Log;
  now(): number;
  monotonic(): number;
  lives(instance: Instance): boolean;
  machine: string;
  opener: HostOpener;
}

export class FolderOpening {
  readonly #context: OpeningContext;
  /** Until when a folder is not tried again. */
  #resting = new Map<string, number>();

  constructor(context: OpeningContext) {
    this.#context = context;
  }

  async run(): Promise<void> {
    const { store, opener, machine, lives, monotonic } = this.#context;
    const wanted = (await store.queue.folders()).filter((each) => opener.has(each.host) && each.machine === machine);
    if (wanted.length === 0) return;
    const now = monotonic();
    this.#resting = new Map([...this.#resting].filter(([, until]) => until > now));
    const living = (await store.instances()).filter((each) => each.machine === machine && lives(each));
    const isOpen = ({ host, directory }: HostFolder) =>
      living.some((each) => each.host === host && each.directory === directory);
    const missing = wanted.filter((each) => !isOpen(each) && !this.#resting.has(keyOf(each)));
    await Promise.all(missing.map((each) => this.#open(each)));
  }

  async #open(folder: HostFolder): Promise<void> {
    const { host, directory } = folder;
    try {
      assertNotMoved(directory);
    } catch (thrown) {
      await this.#fail(folder, messageOf(thrown));
      return;
    }
    try {
      await this.#context.opener.open(host, directory);
    } catch (thrown) {
      this.#resting.set(keyOf(folder), this.#context.monotonic() + REST_MS);
      const error = messageOf(thrown);
      this.#context.log.error("a host for tasks that may start could not be opened", { host, directory, error });
    }
  }

  /** Nobody would have that folder open. */
  async #fail(folder: HostFolder, error: string): Promise<void> {
    const { store, machine, now, log } = this.#context;
    const offer = { runner: `opening ${keyOf(folder)}`, hosts: [], labels: [], machine, folders: [folder], limits: {} };
    try {
      for (const claimed of await store.queue.claim({ ...offer, count: MOST_ENDED, leaseMs: REST_MS, at: now() })) {
        await failClaimed(this.#context, claimed, error);
        log.error("a run that could begin was ended", { task: claimed.taskId, error });
      }
    } catch (thrown) {
      log.error("runs of a folder that leads elsewhere could not be ended; it is tried again", {
        ...folder,
        error: messageOf(thrown),
      });
    }
  }
}

function keyOf({ host, directory }: HostFolder): string {
  return `${host} ${directory}`;
}
