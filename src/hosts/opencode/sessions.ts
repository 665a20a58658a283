/**
 * What OpenCode's events revealed about sessions: their rules, their parents, and the launches that created them. Saves
 * one request per launch. Bounded; an unknown session has to be requested.
 */
import type { WireRule, WireSession } from "./wire.ts";

const MAX_SESSIONS = 1000;

export class SeenSessions {
  readonly #known = new Map<string, { rules: readonly WireRule[]; parentId: string }>();
  readonly #launches = new Map<string, (sessionId: string) => void>();

  remember(session: WireSession): void {
    this.#known.delete(session.id);
    this.#known.set(session.id, { rules: session.permission ?? [], parentId: session.parentID ?? "" });
    const oldest = this.#known.keys().next().value;
    if (this.#known.size > MAX_SESSIONS && oldest !== undefined) this.#known.delete(oldest);
    const launchId = launchIdOf(session);
    if (launchId !== null) this.#launches.get(launchId)?.(session.id);
  }

  forget(sessionId: string): void {
    this.#known.delete(sessionId);
  }

  permissionOf(sessionId: string): readonly WireRule[] | null {
    return this.#known.get(sessionId)?.rules ?? null;
  }

  /** The parent session, empty if it has none; null if the session is unknown. */
  parentOf(sessionId: string): string | null {
    return this.#known.get(sessionId)?.parentId ?? null;
  }

  /** Resolves with the session of a launch when an event reports it; perhaps never. */
  launched(launchId: string): Promise<string> {
    return new Promise((resolve) => this.#launches.set(launchId, resolve));
  }

  forgetLaunch(launchId: string): void {
    this.#launches.delete(launchId);
  }
}

/** The launch that created a session, if it was one of ours. */
export function launchIdOf(session: WireSession): string | null {
  const mark = session.metadata?.asyncagents as { launchId?: unknown } | undefined;
  return typeof mark?.launchId === "string" ? mark.launchId : null;
}
