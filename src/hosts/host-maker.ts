/**
 * How a process that starts hosts itself gets one for a directory. A maker owns the programs behind its hosts: they are
 * started when first needed and end with it, whatever happens to this process. It knows nothing of tasks.
 */
import type { Host } from "./host.ts";

export interface OpenedHost {
  host: Host;
  /** Lets go of the directory; what is at work there ends. */
  close(): Promise<void>;
}

export interface HostMaker {
  /** The kind of its hosts. */
  readonly kind: string;
  /** Why it cannot make a host on this machine, with what to do about it; null where it can. */
  problem(): Promise<string | null>;
  /** A host that works in that directory, an existing real path. */
  open(directory: string): Promise<OpenedHost>;
  /** Ends every program that it started. */
  stop(): Promise<void>;
}
