/**
 * What OpenCode's events told about sessions: the rules that they carry, and which launch made them. Spares a request
 * for each launch. Bounded; a session that was not seen is asked for.
 */
import type { WireRule, WireSession } from "./opencode-wire.ts";

const MAX_SESSIONS = 1000;

export class SeenSessions {
  readonly #rules = new Map<string, readonly WireRule[]>();
  readonly #launches = new Map<string, (sessionId: string) => void>();

  take(session: WireSession): void {
    this.#rules.delete(session.id);
    this.#rules.set(session.id, session.permission ?? []);
    const oldest = this.#rules.keys().next().value;
    if (this.#rules.size > MAX_SESSIONS && oldest !== undefined) this.#rules.delete(oldest);
    const launchId = launchIdOf(session);
    if (launchId !== null) this.#launches.get(launchId)?.(session.id);
  }

  forget(sessionId: string): void {
    this.#rules.delete(sessionId);
  }

  permissionOf(sessionId: string): readonly WireRule[] | null {
    return this.#rules.get(sessionId) ?? null;
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
