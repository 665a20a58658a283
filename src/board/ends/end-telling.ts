/**
 * Tells programs how what they launched over MCP ended, each end once. How a program is told is stored with the launch:
 * it asks for the end of an MCP task, or hooks in its session claim ends and tell them. What was claimed is told when
 * the session has read it; the session's transcript, which hooks can see, decides what has to be told once more. The
 * notices are in the store; only who waits, and who asked lately, is known here.
 */
import { claudeClient, type Follower, runHandle, unknownClient } from "../../model/notifications/follower.ts";
import { isLive, type Task } from "../../model/task.ts";
import { pause } from "../../process/deadline.ts";
import type { OperationOutput } from "../../protocol/operations.ts";
import type { Notice } from "../../store/store.ts";
import type { BoardCall } from "../board-call.ts";
import type { BoardParts } from "../board-context.ts";
import type { Input } from "../input.ts";
import { endText } from "./end-text.ts";
import { findLaunch, followedHandle, readEnd } from "./launch-end.ts";

type NextEnds = OperationOutput<"next_ends">;
type Caller = Pick<BoardCall, "origin">;

/** Each is a process. After a launch, one more than is needed: one waits while another tells. */
const MOST_WAITING = { launch: 2, prompt: 1, start: Number.POSITIVE_INFINITY };
/** Claims of others may be released, and attempts get their tasks, without a word. */
const LOOK_MS = 1_000;
/** A model that waits for a task itself reads its end in this time, and then need not be told. */
const GRACE_MS = 1_000;
/** A client that follows MCP tasks asks within seconds of its start. One that does not by then is told by its hooks. */
const TAKE_OVER_MS = 15_000;
const MOST_KEPT = 10_000;

const NOTHING: NextEnds = { claim: null, text: "", waits: false, unread: [] };

export class EndTelling {
  readonly #parts: BoardParts;
  /** How many hooks wait here, by client and process. */
  readonly #waiting = new Map<string, number>();
  /** When a client last asked for the end of an MCP task. */
  readonly #asked = new Map<string, number>();
  /** Since when what was claimed is known here to be unread. */
  readonly #unread = new Map<string, number>();

  constructor(parts: BoardParts) {
    this.#parts = parts;
  }

  async read(input: Input<"read_end">, { origin }: Caller): Promise<OperationOutput<"read_end">> {
    const { store, now, monotonic } = this.#parts;
    const { handle } = input;
    const end = await readEnd(this.#parts, input);
    const follower = await store.followers.get(handle);
    // Whoever holds a token can read any end. Only those that such a holder follows are told by that.
    if (origin.token !== undefined && follower?.client !== unknownClient(handle)) return end;
    keepNewest(this.#asked, handle, monotonic());
    // Its client could not say so when it launched, because the daemon went away.
    if (follower === null) await this.#add({ handle, client: unknownClient(handle), way: "task", callId: null });
    // What hooks have to tell a session is not told because somebody else asks for it.
    if (end.status !== "working" && follower?.way !== "hook") {
      await store.followers.told({ handle }, { reason: "its client has read the end of the MCP task", at: now() });
    }
    return end;
  }

  /** Only programs of this machine say for which session of it they ask: what is told wakes that session. */
  async follow(input: Input<"follow_launch">, { origin }: Caller): Promise<OperationOutput<"follow_launch">> {
    const handle = await followedHandle(this.#parts, input.handle);
    await findLaunch(this.#parts, handle);
    const { client, way, call = null } = input;
    const isLocal = origin.token === undefined;
    const who = isLocal ? { client, callId: call } : { client: unknownClient(handle), callId: null };
    await this.#add({ handle, way, ...who });
    return { handle };
  }

  async next(input: Input<"next_ends">, signal?: AbortSignal): Promise<NextEnds> {
    const client = claudeClient(input.session);
    // Hooks of a process that was killed may still wait, but nobody would read what they tell.
    const key = `${client} ${input.process ?? ""}`;
    if (input.again !== true) {
      if (input.event === "launch") await this.#bind(client, input);
      if (this.#hooksOf(key) >= MOST_WAITING[input.event]) return NOTHING;
    }
    this.#waiting.set(key, this.#hooksOf(key) + 1);
    try {
      return await this.#wait(client, input, signal);
    } finally {
      const rest = this.#hooksOf(key) - 1;
      if (rest > 0) this.#waiting.set(key, rest);
      else this.#waiting.delete(key);
    }
  }

  #hooksOf(key: string): number {
    return this.#waiting.get(key) ?? 0;
  }

  async hear(input: Input<"hear_ends">): Promise<OperationOutput<"hear_ends">> {
    const { store, now } = this.#parts;
    const { claim, client, handles = [], unread = false } = input;
    const at = now();
    const which = { messageId: claim ?? "" };
    if (unread) await store.followers.release(which.messageId, "it was claimed, and did not reach the session");
    let isNew = claim !== undefined && (await store.followers.told(which, { reason: "its session has read it", at }));
    for (const handle of handles) {
      const follower = await store.followers.get(handle);
      // An MCP task is told by its client, whatever else the model reads.
      if (follower === null || follower.client !== client || follower.way === "task") continue;
      isNew = (await store.followers.told({ handle }, { reason: "its model has read the result", at })) || isNew;
    }
    return { told: isNew };
  }

  async #wait(client: string, input: Input<"next_ends">, signal?: AbortSignal): Promise<NextEnds> {
    const { event, process = null, again = false, wait_ms = 0, waited_ms = 0 } = input;
    const { monotonic } = this.#parts;
    const begin = monotonic();
    for (;;) {
      const told = signal?.aborted ? null : await this.#claim(client, process, signal);
      if (told !== null) return told;
      const waited = monotonic() - begin;
      const open = await this.#openOf(client, event === "start" ? waited_ms + waited : null);
      if (open.length === 0) return NOTHING;
      const unread = await this.#unreadOf(client);
      // A hook that has just come looks at these first, and then now and then.
      const isOver = waited >= wait_ms || (!again && unread.length > 0);
      if (isOver || signal?.aborted) return { ...NOTHING, waits: true, unread };
      await this.#untilOneEnds(open, Math.min(LOOK_MS, wait_ms - waited), signal);
    }
  }

  /** Null if there is nothing to tell, or if the hook is gone that would have told it. */
  async #claim(client: string, sender: string | null, signal?: AbortSignal): Promise<NextEnds | null> {
    const { store, now, newId } = this.#parts;
    const messageId = `ntc_${newId()}`;
    const notices = await store.followers.claim(client, { messageId, at: now(), graceMs: GRACE_MS, sender });
    if (notices.length === 0) return null;
    const text = await this.#textOf(messageId, notices);
    if (!signal?.aborted) return { ...NOTHING, claim: messageId, text, waits: true };
    await store.followers.release(messageId, "its hook ended before it told it");
    return null;
  }

  async #unreadOf(client: string): Promise<NextEnds["unread"]> {
    const { store, monotonic } = this.#parts;
    const claimed = await store.followers.claimed(client);
    return claimed.map(({ messageId, sender }) => {
      const since = this.#unread.get(messageId) ?? monotonic();
      keepNewest(this.#unread, messageId, since);
      return { claim: messageId, process: sender, since_ms: Math.round(monotonic() - since) };
    });
  }

  /**
   * What a hook has to wait for. After the start of a session that is also what its client should ask for itself: what
   * it does not ask for in time is left to hooks from then on.
   */
  async #openOf(client: string, startedMs: number | null): Promise<Follower[]> {
    const { store, monotonic } = this.#parts;
    const open = await store.followers.open(client);
    const theirs = open.filter(({ way }) => way === "hook");
    const others = open.filter(({ way }) => way === "task");
    if (startedMs === null) return theirs;
    if (startedMs < TAKE_OVER_MS) return open;
    const left = others.filter(
      ({ handle }) => monotonic() - (this.#asked.get(handle) ?? -TAKE_OVER_MS) >= TAKE_OVER_MS,
    );
    for (const { handle } of left) await store.followers.change(handle, { way: "hook" });
    return [...theirs, ...left];
  }

  async #untilOneEnds(open: readonly Follower[], timeout: number, signal?: AbortSignal): Promise<void> {
    const over = new AbortController();
    const any = signal === undefined ? over.signal : AbortSignal.any([signal, over.signal]);
    const waits = open.map(({ handle }) => this.#untilEnded(handle, timeout, any));
    try {
      await Promise.race(waits);
    } finally {
      over.abort();
      await Promise.allSettled(waits);
    }
  }

  /** One that has ended is being told by another hook, or by its client: that is looked at again later. */
  async #untilEnded(handle: string, timeout: number, signal: AbortSignal): Promise<void> {
    const { waiter } = this.#parts;
    const { task } = await findLaunch(this.#parts, handle).catch(() => ({ task: null }));
    if (task === null || !isLive(task.status)) return pause(timeout, { signal, clock: this.#parts });
    await waiter.until(task.id, (each) => !isLive(each.status), { timeout, signal });
  }

  /** The hook knows the session that launched, also after a session was cleared or resumed in the same process. */
  async #bind(client: string, { call, handles = [] }: Input<"next_ends">): Promise<void> {
    const { followers } = this.#parts.store;
    const known = call === undefined ? null : await followers.ofCall(call);
    for (const handle of known === null ? handles : [known.handle]) {
      const follower = known ?? (await followers.get(handle));
      if (follower === null) await this.#addKnown({ handle, client, way: "hook", callId: call ?? null });
      else if (follower.client !== client) await followers.change(handle, { client });
    }
  }

  async #textOf(claim: string, notices: readonly Notice[]): Promise<string> {
    const { store } = this.#parts;
    const ends: OperationOutput<"read_end">[] = [];
    for (const { taskId, run } of notices) {
      const task = await store.task(taskId);
      const handle = task === null ? taskId : await this.#handleOf(task, run);
      // What was removed meanwhile has no end to tell any more.
      const end = await readEnd(this.#parts, { handle }).catch(() => null);
      if (end !== null) ends.push(end);
    }
    return endText(claim, ends, () => this.#parts.newId().slice(-12));
  }

  async #handleOf({ id, batchId }: Task, run: number): Promise<string> {
    return (await this.#parts.store.followers.get(runHandle(batchId, run)))?.handle ?? runHandle(id, run);
  }

  async #addKnown(follower: Follower): Promise<void> {
    const isKnown = await findLaunch(this.#parts, follower.handle).then(
      () => true,
      () => false,
    );
    if (isKnown) await this.#add(follower);
  }

  #add(follower: Follower): Promise<void> {
    const { store, now } = this.#parts;
    return store.followers.add(follower, now());
  }
}

/** Those that were not set in a long time are the first. */
function keepNewest(map: Map<string, number>, key: string, value: number): void {
  map.delete(key);
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > MOST_KEPT && oldest !== undefined) map.delete(oldest);
}
