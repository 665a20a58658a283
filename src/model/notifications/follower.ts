/**
 * Who is told how a launch ended although no session of a host launched it: a program that launched it over MCP. Its id
 * takes the place of a parent's session in notices. Pure.
 */

/** It asks for the end of an MCP task, or hooks in its session ask and tell. */
export type TellingWay = "task" | "hook";

export interface Follower {
  /** What was launched: a task, an attempt, or a later run of one (`runHandle`). */
  handle: string;
  /** The id that its notices have as parent. */
  client: string;
  way: TellingWay;
  /** The client's own name for the call that launched it; null if it gave none. */
  callId: string | null;
}

/** Names a run of a launch. The first one has the name of the launch. */
export function runHandle(launch: string, run: number): string {
  return run === 0 ? launch : `${launch}.${run}`;
}

export function partsOfHandle(handle: string): { launch: string; run: number } {
  const [, launch, run] = /^(.+)\.([1-9]\d{0,8})$/.exec(handle) ?? [];
  return launch === undefined ? { launch: handle, run: 0 } : { launch, run: Number(run) };
}

export const CLIENT = "client:";
const CLAUDE = `${CLIENT}claude:`;

/** A session of Claude Code. */
export function claudeClient(sessionId: string): string {
  return `${CLAUDE}${sessionId}`;
}

/** A client that has not said who it is: it only knows the handle. */
export function unknownClient(handle: string): string {
  return `${CLIENT}mcp:${handle}`;
}

/** Whether a notice is for a client: no engine delivers it, the client gets it through the daemon. */
export function isClient(parent: string): boolean {
  return parent.startsWith(CLIENT);
}

/** For people. */
export function clientText(client: string): string {
  return client.startsWith(CLAUDE) ? `Claude Code, session ${client.slice(CLAUDE.length)}` : "an MCP client";
}

/** How a text names the claim of what it tells. */
export function claimText(claim: string): string {
  return `asyncagents notice ${claim}`;
}

/** The claims that a text names. */
export function claimsIn(text: string): string[] {
  return [...new Set([...text.matchAll(/\basyncagents notice (ntc_[\w-]{1,60})/g)].map(([, claim = ""]) => claim))];
}
