/**
 * How a process that starts its own hosts gets one for a directory. A maker owns the programs behind its hosts: they
 * start on demand and end with it, whatever happens to this process. Knows nothing about tasks.
 */
import type { Host } from "./host.ts";

export interface OpenedHost {
  host: Host;
  /** Releases the directory; work in progress there ends and stays unfinished, as after a crash: it was not aborted. */
  close(): Promise<void>;
}

/** What is known about an agent before a host is opened. */
export interface AgentCondition {
  name: string;
  /** How people call it. */
  title: string;
  /** Why it cannot be used on this machine, and what to do about it; null if it can. */
  problem: string | null;
  /** What it cannot do, for people who choose. */
  limits: readonly string[];
}

/** A program in which a person can look into a session and go on there. */
export interface SessionProgram {
  program: string;
  arguments: readonly string[];
  /** In addition to the person's own. May hold a password. */
  environment: Readonly<Record<string, string>>;
}

export interface HostMaker {
  /** The kind of its hosts. */
  readonly kind: string;
  /** Why it cannot create a host on this machine, and what to do about it; null if it can. */
  problem(): Promise<string | null>;
  /** All agents, also those that cannot be used, for a host whose agents are programs of their own. */
  agents?(): readonly AgentCondition[];
  /** Opens a host for that directory, an existing real path. */
  open(directory: string): Promise<OpenedHost>;
  /** What opens a session in the host's own program, in that directory. */
  attach?(session: { directory: string; sessionId: string }): Promise<SessionProgram>;
  /** Ends every program that it started. */
  stop(): Promise<void>;
}
