/**
 * The board's operations for a process that outlives the daemon: each call finds the daemon again or starts it. A
 * call that was in flight when the daemon died fails and is not retried, because it may have had effects.
 */

import { createClient } from "../client/client.ts";
import { ensureDaemon, findOrRevive } from "../daemon/find-daemon.ts";
import type { CallOrigin } from "../protocol/call-origin.ts";
import type { CallOperation } from "../protocol/operations.ts";

export function daemonCall(directory: string, origin: CallOrigin): CallOperation {
  return async (name, input, options) => {
    const { daemon } = await ensureDaemon(directory, { signal: options?.signal });
    return createClient({ url: daemon.url, token: daemon.token, origin }).operate(name, input, options);
  };
}

/** For calls that nobody waits for: a daemon that was stopped is not started again, only one that died. */
export function daemonPoll(directory: string, origin: CallOrigin): CallOperation {
  return async (name, input, options) => {
    const { url, token } = await findOrRevive(directory, options);
    return createClient({ url, token, origin }).operate(name, input, options);
  };
}
