/**
 * Engines on one real store and the scripted host, each simulating a separate process; with a clock that moves only
 * when it is read or set.
 */
import { onTestFinished } from "bun:test";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DEFAULT_SETTINGS, type EngineContext, type Settings } from "../../src/engine/context.ts";
import { Engine } from "../../src/engine/engine.ts";
import type { Caller, LaunchRequest } from "../../src/engine/launch.ts";
import type { HostOpener } from "../../src/engine/recovery/orphan-sweep.ts";
import type { Slots } from "../../src/engine/runs/slots.ts";
import { Supervisor } from "../../src/engine/supervisor.ts";
import type { Host, HostEvent } from "../../src/hosts/host.ts";
import { markerOf, type ScriptedScript } from "../../src/hosts/scripted/script.ts";
import { type ScriptedHost, scriptedHost } from "../../src/hosts/scripted/scripted-host.ts";
import { type ScriptedMessage, ScriptedSessions } from "../../src/hosts/scripted/sessions.ts";
import { isLive, type Task } from "../../src/model/task.ts";
import { systemClock } from "../../src/process/clock.ts";
import type { Log } from "../../src/process/log.ts";
import { sqliteStore } from "../../src/store/open.ts";
import type { Instance, Notice, NoticeState, Store } from "../../src/store/store.ts";
import { eventually } from "../../src/testing/eventually.ts";

export const NEVER = 3_600_000;

export interface SideOptions {
  settings?: Partial<Settings>;
  /** Replaces members of the scripted host. */
  host?(host: ScriptedHost): Partial<Host>;
  reach?: EngineContext["reach"];
  slots?: Slots;
  /** That of another side, whose process this engine is in as well; one of its own when absent. */
  supervisor?: Supervisor;
  /** For a process that opens hosts itself, like the daemon. */
  opener?: HostOpener;
  directory?: string;
  /** How often the instance says that it lives; never when absent. */
  beatMs?: number;
  /** A store of its own making in the world's folder; an ordinary one when absent. */
  store?: Store;
  /** False leaves the start (and the recovery) to the test. */
  started?: boolean;
}

/** One process: an engine, its host, its handle on the store. */
export interface Side {
  id: string;
  engine: Engine;
  supervisor: Supervisor;
  host: ScriptedHost;
  store: Store;
  logged: string[];
  /** Resolves when a line with that text is logged, or has been. */
  untilLogged(text: string): Promise<void>;
  /** Dies as with kill -9: writes nothing more, and its host dies with it. */
  kill(): Promise<void>;
}

export class World {
  readonly directory = mkdtempSync(join(tmpdir(), "asyncagents-engine-"));
  readonly sessions = new ScriptedSessions();
  readonly sides: Side[] = [];
  readonly #dead = new Set<string>();
  readonly #heldForDead = new Set<string>();
  #at = 1_700_000_000_000;
  #awake = 0;
  #scripts = 0;

  /** Each read of the clock is a millisecond later than the one before. */
  now = (): number => ++this.#at;

  /** The monotonic clock likewise. */
  monotonic = (): number => ++this.#awake;

  after = systemClock.after;

  pass(ms: number): void {
    this.#at += ms;
    this.#awake += ms;
  }

  /** Moves the wall clock only, even backwards: someone set it, or the machine slept. */
  jump(ms: number): void {
    this.#at += ms;
  }

  /** From now on everyone else considers this process dead, although it is not. */
  holdForDead(id: string): void {
    this.#heldForDead.add(id);
  }

  async side(options: SideOptions = {}): Promise<Side> {
    const real = options.store ?? (await sqliteStore({ directory: this.directory }));
    const scripted = scriptedHost({ sessions: this.sessions, now: this.now, agents: ["general", "explore"] });
    const host = { ...scripted, ...options.host?.(scripted) } as ScriptedHost;
    const id = `ins_${this.sides.length + 1}`;
    const store: Store = {
      ...real,
      endInstance: async (other) => {
        if (other !== id || !this.#dead.has(id)) await real.endInstance(other);
      },
    };
    const logged: string[] = [];
    const lines = new EventTarget();
    const note = (message: string, details?: object) => {
      logged.push(`${message} ${JSON.stringify(details ?? {})}`);
      lines.dispatchEvent(new Event("line"));
    };
    const context = this.#context(id, store, host, { info: note, error: note }, options);
    const { supervisor } = context;
    const engine = new Engine(context);
    const side: Side = {
      id,
      engine,
      supervisor,
      host,
      store,
      logged,
      async untilLogged(text) {
        while (!logged.some((line) => line.includes(text))) await once(lines, "line");
      },
      kill: async () => {
        this.#dead.add(id);
        scripted.crash();
        supervisor.stop();
        await engine.stop();
      },
    };
    this.sides.push(side);
    if (options.started !== false) await engine.start();
    return side;
  }

  async close(): Promise<void> {
    for (const side of this.sides) {
      side.supervisor.stop();
      await side.engine.stop();
      side.host.crash();
    }
    for (const side of this.sides) await side.store.close();
    rmSync(this.directory, { recursive: true, force: true });
  }

  script(...steps: ScriptedScript): string {
    const name = `script-${++this.#scripts}`;
    this.sessions.script(name, steps);
    return markerOf(name);
  }

  parent(): string {
    return this.sessions.add({ title: "parent" }).id;
  }

  messages(sessionId: string): ScriptedMessage[] {
    return this.sessions.get(sessionId).messages;
  }

  /** What the parent was told, message by message. */
  told(parentSessionId: string): string[] {
    return this.messages(parentSessionId).flatMap((message) =>
      message.role === "user" && message.text.startsWith("told ") ? [message.text] : [],
    );
  }

  /** Turns that the parent's agent took. */
  turns(parentSessionId: string): number {
    return this.messages(parentSessionId).filter((message) => message.role === "assistant").length;
  }

  #context(id: string, store: Store, host: Host, log: Log, options: SideOptions): EngineContext {
    let ids = 0;
    const settings = { ...DEFAULT_SETTINGS, pollMs: NEVER, ...options.settings };
    const isAlive = ({ id: other }: Instance) => !this.#dead.has(other) && !this.#heldForDead.has(other);
    const { pollMs } = settings;
    const { beatMs = NEVER, opener } = options;
    const { now, monotonic, after } = this;
    const own = { store, log, now, monotonic, after, isAlive, pollMs, beatMs, ...(opener && { opener }) };
    return {
      store,
      host,
      supervisor: options.supervisor ?? new Supervisor(own),
      instance: {
        id,
        pid: this.sides.length,
        processStart: "0",
        bootId: "boot",
        pidNamespace: "",
        beat: 0,
        machine: "",
        leaseLeft: null,
        host: host.kind,
        directory: options.directory ?? "/work",
        startedAt: this.now(),
      },
      settings,
      log,
      now,
      monotonic,
      after,
      newId: (prefix) => `${prefix}_${id}_${++ids}`,
      wordNotices: (views) => ({
        visible: `told ${views.map(({ notice, task, run }) => `${task.description}#${run.number} ${notice.kind}`).join(", ")}`,
        hidden: "hint",
      }),
      reach: options.reach ?? (() => undefined),
      ...(options.slots && { slots: options.slots }),
    };
  }
}

/** A world that ends with the test that creates it. */
export function newWorld(): World {
  const world = new World();
  // Not `afterEach`: a hook in this module would only run for the first file that imports it.
  onTestFinished(() => world.close());
  return world;
}

let messages = 0;

export function callerOf(sessionId: string, messageId = `msg_calling_${++messages}`): Caller {
  return { sessionId, messageId, agent: "general", model: null, variant: null };
}

export async function launch(
  side: Side,
  caller: string | Caller,
  prompt: string,
  fields: Partial<LaunchRequest> = {},
): Promise<Task> {
  const from = typeof caller === "string" ? callerOf(caller) : caller;
  const request = { description: "task", prompt, agent: "general", fork: false, batch: null, ...fields };
  return side.engine.launch(from, request, await side.engine.checkLaunch(from, request));
}

/** The task as soon as it matches. */
export function when(side: Side, task: Task, fits: (task: Task) => boolean): Promise<Task> {
  return eventually(side.store, async () => {
    const now = await side.store.task(task.id);
    return now && fits(now) ? now : null;
  });
}

/** The task once its current run has ended. */
export function ended(side: Side, task: Task): Promise<Task> {
  return when(side, task, (now) => now.run.number > task.run.number || !isLive(now.status));
}

/** A parent's notices as soon as this many are in that state. */
export function notices(side: Side, parent: string, state: NoticeState, count: number): Promise<Notice[]> {
  return eventually(side.store, async () => {
    const found = await side.store.notices(parent, state);
    return found.length >= count ? found : null;
  });
}

/** Resolves when the session's turn has ended: at the next idle that its host announces. */
export function idle(side: Side, sessionId: string): Promise<void> {
  return new Promise((resolve) => {
    const stop = side.host.onEvent((event) => {
      if (event.type !== "session.idle" || event.sessionId !== sessionId) return;
      stop();
      resolve();
    });
  });
}

/** The code of the error that the work fails with. */
export async function codeOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => "none",
    (thrown: { code?: unknown }) => thrown.code,
  );
}

/** A host's own text, and a way for a test to replace it. */
export function heard() {
  const listeners = new Set<(event: HostEvent) => void>();
  return {
    host: (host: ScriptedHost) => ({
      onEvent(listener: (event: HostEvent) => void) {
        listeners.add(listener);
        return host.onEvent(listener);
      },
    }),
    emit(event: HostEvent): void {
      for (const listener of listeners) listener(event);
    },
  };
}

/** Resolves after this many more polls of the host's statuses. */
export function polls(side: Side, count: number): Promise<void> {
  const { statuses } = side.host;
  let left = count;
  return new Promise((resolve) => {
    side.host.statuses = () => {
      if (--left === 0) resolve();
      return statuses();
    };
  });
}

/** Hides events of these types from the engine, as if they were lost. */
export function without(...types: HostEvent["type"][]) {
  return (host: ScriptedHost) => ({
    onEvent: (listener: (event: HostEvent) => void) =>
      host.onEvent((event) => {
        if (!types.includes(event.type)) listener(event);
      }),
  });
}
