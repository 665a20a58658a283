/**
 * Finds what is worth telling, for each channel: reads the feed from the channel's stored position, and what waits for
 * approval. Rows and position are stored together, so a crash neither loses nor repeats anything. Positions that only
 * pass over other events are stored now and then: reading those again is harmless.
 */
import { mayBeNotable, type Notable, notableApproval, notableOf } from "../../model/notifications/notification.ts";
import { rulingFor } from "../../model/notifications/notification-rules.ts";
import { quietUntil } from "../../model/notifications/quiet-hours.ts";
import type { Task } from "../../model/task.ts";
import type { ChannelPosition, NewNotification } from "../../store/notifications/records.ts";
import type { FeedEntry } from "../../store/store.ts";
import type { Channel } from "./channels/channel.ts";
import type { NotifierContext } from "./notifier-context.ts";

const PAGE = 200;
/** What happened longer ago is not told any more: no process was there to tell it. */
const OLDEST_MS = 86_400_000;
/** How often a position is stored that only passes over events. */
const STORE_EVERY_MS = 60_000;
const APPROVALS = 200;

type NumberedNotable = Notable & { seq: number | null };

interface Position extends ChannelPosition {
  /** What the store has. */
  stored: number;
  storedAt: number;
}

export class FeedReader {
  readonly #context: NotifierContext;
  readonly #positions = new Map<string, Position>();
  #boardVersion = -1;

  constructor(context: NotifierContext) {
    this.#context = context;
  }

  /** Reads on to the end of the feed. True if something is to be sent, or was held. */
  async read(): Promise<boolean> {
    await this.#open();
    let hasAdded = await this.#readApprovals();
    for (;;) {
      const from = Math.min(...[...this.#positions.values()].map(({ seq }) => seq));
      const entries = await this.#context.store.feed(from, PAGE);
      const last = entries.at(-1)?.seq;
      if (last === undefined) return hasAdded;
      const notables = await this.#notablesOf(entries);
      for (const channel of this.#context.channels) {
        if (await this.#tell(channel, notables, last)) hasAdded = true;
      }
      if (entries.length < PAGE) return hasAdded;
    }
  }

  /** Stores how far it has read. */
  async flush(): Promise<void> {
    const { store, now } = this.#context;
    for (const [channel, position] of this.#positions) {
      if (position.seq > position.stored) await store.notifications.add(channel, [], { seq: position.seq, now: now() });
    }
  }

  /** A new channel begins at the end of the feed: it is not told the past. */
  async #open(): Promise<void> {
    const { store, channels, now } = this.#context;
    const missing = channels.filter(({ name }) => !this.#positions.has(name));
    if (missing.length === 0) return;
    const end = await store.lastSeq();
    for (const { name } of missing) {
      const position = await store.notifications.open(name, { seq: end, since: now() });
      this.#positions.set(name, { ...position, stored: position.seq, storedAt: now() });
    }
  }

  async #notablesOf(entries: readonly FeedEntry[]): Promise<NumberedNotable[]> {
    const tasks = new Map<string, Task | null>();
    const found: NumberedNotable[] = [];
    for (const { seq, taskId, event } of entries) {
      if (!mayBeNotable(event)) continue;
      if (!tasks.has(taskId)) tasks.set(taskId, await this.#context.store.task(taskId));
      const task = tasks.get(taskId);
      const notable = task ? notableOf(seq, event, task) : null;
      if (notable !== null) found.push({ ...notable, seq });
    }
    return found;
  }

  /** Approvals are not in the feed. They are told by their ids, so that nothing is lost or repeated. */
  async #readApprovals(): Promise<boolean> {
    const { store, channels } = this.#context;
    const version = await store.board.version();
    if (version === this.#boardVersion) return false;
    const approvals = await store.board.approvals("requested", { limit: APPROVALS, after: null });
    let hasAdded = false;
    for (const channel of channels) {
      const since = this.#positions.get(channel.name)?.since ?? 0;
      const open = approvals.filter(({ createdAt }) => createdAt >= since);
      const notables = open.map((approval) => ({ ...notableApproval(approval), seq: null }));
      if (notables.length > 0 && (await this.#tell(channel, notables, 0))) hasAdded = true;
    }
    this.#boardVersion = version;
    return hasAdded;
  }

  async #tell(channel: Channel, notables: readonly NumberedNotable[], last: number): Promise<boolean> {
    const { store, now } = this.#context;
    const position = this.#positions.get(channel.name);
    if (position === undefined) return false;
    const at = now();
    const rows = notables
      .filter(({ seq, content }) => (seq === null || seq > position.seq) && content.at >= at - OLDEST_MS)
      .flatMap((notable) => this.#rowOf(channel, notable, at));
    const seq = Math.max(position.seq, last);
    const isLate = seq > position.stored && at - position.storedAt >= STORE_EVERY_MS;
    if (rows.length === 0 && !isLate) {
      this.#positions.set(channel.name, { ...position, seq });
      return false;
    }
    const added = await store.notifications.add(channel.name, rows, { seq, now: at });
    this.#positions.set(channel.name, { ...position, seq, stored: seq, storedAt: at });
    return added > 0;
  }

  #rowOf(channel: Channel, notable: NumberedNotable, now: number): (NewNotification & { seq: number | null })[] {
    const { newId, rules, quietHours } = this.#context;
    const ruling = rulingFor(channel.name, rules, notable);
    if (ruling === null) return [];
    const { seq, key, content } = notable;
    const isHeld = quietHours !== null && channel.heedsQuietHours && !ruling.isUrgent;
    const until = isHeld ? quietUntil(quietHours, now) : null;
    const { isUrgent } = ruling;
    return [{ seq, id: newId("ntf"), key, content, isUrgent, ...when(until, now) }];
  }
}

function when(quietEnd: number | null, now: number): Pick<NewNotification, "state" | "dueAt"> {
  return quietEnd === null ? { state: "pending", dueAt: now } : { state: "held", dueAt: quietEnd };
}
