/**
 * Delivers notices: each one once, in one message at a time per parent, by the process that handles the parent. What
 * is pending while a delivery is in flight goes into the next one. The message's id is stored before it is sent, so
 * that after a crash the session itself says whether it arrived. Does not word notices.
 */
import type { HostEvent } from "../hosts/host.ts";
import { AsyncAgentsError, messageOf } from "../model/errors.ts";
import type { Instance, Notice, Parent } from "../store/store.ts";
import type { EngineContext, NoticeView } from "./context.ts";

const GROUP = 20;
const MAX_ATTEMPTS = 8;
const ARRIVAL_MS = 5000;
/** How long a delivered message may wait for the parent's model before the next one is sent behind it. */
const TAKEN_MS = 60_000;
const RETRY_MS = 1000;

type Signal = "added" | "taken" | "idle" | "quiet";

export class Outbox {
  readonly #context: EngineContext;
  readonly #busy = new Set<string>();
  readonly #again = new Set<string>();
  readonly #signals = new Map<string, Set<(signal: Signal) => void>>();
  /** Messages of our own, so that they are not taken for a person's. */
  readonly #sent = new Set<string>();
  readonly #timers = new Set<ReturnType<typeof setTimeout>>();
  #stopped = false;

  constructor(context: EngineContext) {
    this.#context = context;
  }

  /** Looks after every parent that has something waiting. */
  async kickAll(): Promise<void> {
    for (const parent of await this.#context.store.parentsWithNotices()) this.kick(parent);
  }

  /** Looks after one parent; when a delivery is in flight, once more after it. */
  kick(parentSessionId: string): void {
    if (this.#stopped) return;
    this.#again.add(parentSessionId);
    if (this.#busy.has(parentSessionId)) return;
    this.#busy.add(parentSessionId);
    void this.#serve(parentSessionId);
  }

  /** Whether the message is one that this outbox sent. */
  sent(messageId: string): boolean {
    return this.#sent.has(messageId);
  }

  take(event: HostEvent): void {
    if (event.type === "message.added") this.#signal(event.messageId, "added");
    else if (event.type === "message.taken") this.#signal(event.messageId, "taken");
    else if (event.type === "session.idle") this.#signal(event.sessionId, "idle");
  }

  /** Resolves when nothing is pending or on its way for the parent. */
  async untilQuiet(parentSessionId: string, signal: AbortSignal): Promise<void> {
    const { store } = this.#context;
    while (!signal.aborted && !this.#stopped) {
      const open = [
        ...(await store.notices(parentSessionId, "pending", 1)),
        ...(await store.notices(parentSessionId, "sending", 1)),
      ];
      if (open.length === 0) return;
      await this.#wait([`quiet:${parentSessionId}`], ["quiet"], ARRIVAL_MS);
    }
  }

  stop(): void {
    this.#stopped = true;
    for (const timer of this.#timers) clearTimeout(timer);
    for (const key of [...this.#signals.keys()]) this.#signal(key, "idle");
  }

  async #serve(parentSessionId: string): Promise<void> {
    try {
      while (this.#again.delete(parentSessionId) && !this.#stopped) await this.#deliverAll(parentSessionId);
    } catch (thrown) {
      this.#context.log.error("notices could not be delivered; they are tried again", { error: messageOf(thrown) });
      this.#later(parentSessionId, RETRY_MS);
    } finally {
      this.#busy.delete(parentSessionId);
    }
  }

  async #deliverAll(parentSessionId: string): Promise<void> {
    const { store, instance } = this.#context;
    const parent = await store.parent(parentSessionId);
    const instances = new Map((await store.instances()).map((known) => [known.id, known]));
    const isMine = parent?.handler === instance.id;
    if (!isMine && this.#lives(parent?.handler ?? null, instances)) return;
    await this.#settleOrphans(parentSessionId, instances);
    while (!this.#stopped && (await this.#deliver(parentSessionId, parent, isMine))) {}
  }

  #lives(id: string | null, instances: Map<string, Instance>): boolean {
    const known = id === null ? undefined : instances.get(id);
    return known !== undefined && this.#context.isAlive(known);
  }

  /** A group whose sender is gone either arrived, or goes back to be sent again. */
  async #settleOrphans(parentSessionId: string, instances: Map<string, Instance>): Promise<void> {
    const { store, host, now, instance } = this.#context;
    const groups = new Map<string, Notice>();
    for (const notice of await store.notices(parentSessionId, "sending")) {
      if (notice.messageId !== null) groups.set(notice.messageId, notice);
    }
    for (const [messageId, { sender }] of groups) {
      if (sender !== instance.id && this.#lives(sender, instances)) continue;
      const arrived = await host.hasMessage?.(parentSessionId, messageId);
      await store.settleNotices(messageId, { state: arrived ? "delivered" : "pending", reason: null, at: now() });
    }
  }

  /** Sends one message; false when nothing was left to send. */
  async #deliver(parentSessionId: string, parent: Parent | null, wake: boolean): Promise<boolean> {
    const { store, host, now, instance, wordNotices } = this.#context;
    const messageId = host.newMessageId();
    const notices = await store.claimNotices(parentSessionId, { sender: instance.id, messageId, limit: GROUP });
    if (notices.length === 0) return false;
    const text = wordNotices(await this.#views(parentSessionId, notices));
    remember(this.#sent, messageId);
    const { agent = null, model = null, variant = null } = parent ?? {};
    const taken = this.#wait([messageId, parentSessionId], ["taken", "idle"], TAKEN_MS);
    try {
      const added = this.#wait([messageId], ["added", "taken"], ARRIVAL_MS);
      await host.notify?.(parentSessionId, { messageId, ...text, wake, agent, model, variant });
      this.#context.reach("notice-sent");
      const arrived = (await added) || (await host.hasMessage?.(parentSessionId, messageId));
      if (!arrived) throw new AsyncAgentsError("host_failed", "the message did not appear in the parent's session");
      await store.settleNotices(messageId, { state: "delivered", reason: null, at: now() });
      this.#signal(`quiet:${parentSessionId}`, "quiet");
    } catch (thrown) {
      return this.#failed(parentSessionId, messageId, notices, thrown);
    }
    if (wake) await taken;
    return true;
  }

  async #views(parentSessionId: string, notices: readonly Notice[]): Promise<NoticeView[]> {
    const { store } = this.#context;
    const untold = await this.#untold(parentSessionId);
    const views: NoticeView[] = [];
    const open = new Map<string, number>();
    for (const notice of notices) {
      const task = await store.task(notice.taskId);
      const run = await store.run(notice.taskId, notice.run);
      if (!task || !run) continue;
      if (!open.has(task.batchId)) {
        const counts = await store.batchCounts(task.batchId);
        open.set(task.batchId, counts.running + counts.resumed + (untold.get(task.batchId) ?? 0));
      }
      views.push({ notice, task, run, open: open.get(task.batchId) ?? 0 });
    }
    return views;
  }

  /** Ends that wait for the next message, by batch. */
  async #untold(parentSessionId: string): Promise<Map<string, number>> {
    const { store } = this.#context;
    const counts = new Map<string, number>();
    for (const notice of await store.notices(parentSessionId, "pending")) {
      const task = notice.kind === "ended" ? await store.task(notice.taskId) : null;
      if (task) counts.set(task.batchId, (counts.get(task.batchId) ?? 0) + 1);
    }
    return counts;
  }

  async #failed(parent: string, messageId: string, notices: readonly Notice[], thrown: unknown): Promise<boolean> {
    const { store, now, log } = this.#context;
    const gone = AsyncAgentsError.isInstance(thrown) && thrown.code === "session_gone";
    const attempts = Math.max(...notices.map((notice) => notice.attempts));
    const reason = gone ? "the parent session does not exist any more" : messageOf(thrown);
    const state = gone || attempts >= MAX_ATTEMPTS ? "dropped" : "pending";
    await store.settleNotices(messageId, { state, reason, at: now() });
    log.error("a notice was not delivered", { parent, state, reason, attempts });
    if (state === "pending") this.#later(parent, Math.min(60_000, RETRY_MS * 2 ** attempts));
    return state === "dropped";
  }

  #later(parentSessionId: string, delay: number): void {
    if (this.#stopped) return;
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      this.kick(parentSessionId);
    }, delay);
    this.#timers.add(timer);
  }

  /** Resolves true at the first of these signals about one of the keys, false when none came in time. */
  #wait(keys: readonly string[], signals: readonly Signal[], limit: number): Promise<boolean> {
    return new Promise((resolve) => {
      const finish = (came: boolean) => {
        clearTimeout(timer);
        this.#timers.delete(timer);
        for (const key of keys) {
          const waiting = this.#signals.get(key);
          waiting?.delete(listen);
          if (waiting?.size === 0) this.#signals.delete(key);
        }
        resolve(came);
      };
      const listen = (signal: Signal) => {
        if (this.#stopped || signals.includes(signal)) finish(signals.includes(signal));
      };
      const timer = setTimeout(() => finish(false), limit);
      this.#timers.add(timer);
      for (const key of keys) {
        const waiting = this.#signals.get(key) ?? new Set();
        waiting.add(listen);
        this.#signals.set(key, waiting);
      }
    });
  }

  #signal(key: string, signal: Signal): void {
    for (const listen of [...(this.#signals.get(key) ?? [])]) listen(signal);
  }
}

function remember(sent: Set<string>, messageId: string): void {
  sent.add(messageId);
  const oldest = sent.values().next().value;
  if (sent.size > 1000 && oldest !== undefined) sent.delete(oldest);
}
