/**
 * What OpenCode's events told about sessions: the rules that they carry, what is above them, and which launch made them.
 * Spares a request for each launch. Bounded; a session that was not seen is asked for.
 */
import type { WireRule, WireSession } from "./wire.ts";

const MAX_SESSIONS = 1000;

export class SeenSessions {
  readonly #known = new Map<string, { rules: readonly WireRule[]; parentId: string }>();
  readonly #launches = new Map<string, (sessionId: string) => void>();

  take(session: WireSession): void {
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

  /** The session above it, empty where there is none; null where the session was not seen. */
  parentOf(sessionId: string): string | null {
    return this.#known.get(sessionId)?.parentId ?? null;
  }

  /** Resolves with the session of a launch when an event tells of it; perhaps never. */
  launched(launchId: string): Promise<string> {
    return new Promise((resolve) => this.#launches.set(launchId, resolve));
  }

  forgetLaunch(launchId: string): void {
    this.#launches.delete(launchId);
  }
}

/** The launch that made a session, where it was one of ours. */
export function launchIdOf(session: WireSession): string | null {
  const mark = session.metadata?.asyncagents as { launchId?: unknown } | undefined;
  return typeof mark?.launchId === "string" ? mark.launchId : null;
}
