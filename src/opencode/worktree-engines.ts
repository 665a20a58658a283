/**
 * Engines for the worktrees of tasks, in the same OpenCode: it opens an instance of its own for each directory, and
 * gives events only to the plugin that it loads there, perhaps a second copy of this module. That one passes them on to
 * the engine here, and asks it before requests to models; without it, the engine finds everything by polling.
 */
import type { Engine } from "../engine/engine.ts";
import { type OpenCodeHost, openCodeHost } from "../hosts/opencode/opencode-host.ts";
import type { OpenCodeSend } from "../hosts/opencode/transport.ts";

const RECEIVERS = Symbol.for("asyncagents.worktree-hosts");

type Receivers = Map<string, OpenCodeHost>;

function receivers(): Receivers {
  const root = globalThis as { [RECEIVERS]?: Receivers };
  root[RECEIVERS] ??= new Map();
  return root[RECEIVERS];
}

/** Called by the plugin of a directory with each of its events. */
export function passOn(directory: string, event: unknown): void {
  receivers()
    .get(directory)
    ?.receive(event as Parameters<OpenCodeHost["receive"]>[0]);
}

const GATES = Symbol.for("asyncagents.worktree-gates");

type Gates = Map<string, (sessionId: string) => Promise<void>>;

function gates(): Gates {
  const root = globalThis as { [GATES]?: Gates };
  root[GATES] ??= new Map();
  return root[GATES];
}

/** Called by the plugin of a directory before each request to a model there: see `Engine.mayRequest`. */
export async function askFor(directory: string, sessionId: string): Promise<void> {
  await gates().get(directory)?.(sessionId);
}

export class WorktreeEngines {
  readonly #send: OpenCodeSend;
  readonly #make: (host: OpenCodeHost, directory: string) => Engine;
  readonly #opening = new Map<string, Promise<Engine>>();

  /** `make` makes an engine that has not started. */
  constructor(send: OpenCodeSend, make: (host: OpenCodeHost, directory: string) => Engine) {
    this.#send = send;
    this.#make = make;
  }

  /** The engine of that directory; it stays open until the stop. */
  open(directory: string): Promise<Engine> {
    const known = this.#opening.get(directory);
    if (known) return known;
    const opening = this.#open(directory);
    this.#opening.set(directory, opening);
    opening.catch(() => this.#opening.delete(directory));
    return opening;
  }

  async #open(directory: string): Promise<Engine> {
    const send: OpenCodeSend = (request) => this.#send({ ...request, query: { ...request.query, directory } });
    const host = openCodeHost({ send });
    const engine = this.#make(host, directory);
    await engine.start();
    receivers().set(directory, host);
    gates().set(directory, (sessionId) => engine.mayRequest(sessionId));
    return engine;
  }

  /** Live tasks are left to others, like those of any engine that stops. */
  async stop(): Promise<void> {
    const engines = await Promise.allSettled(this.#opening.values());
    for (const [directory] of this.#opening) {
      receivers().delete(directory);
      gates().delete(directory);
    }
    this.#opening.clear();
    await Promise.all(engines.map((each) => (each.status === "fulfilled" ? each.value.stop() : undefined)));
  }
}
