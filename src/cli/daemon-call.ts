/**
 * The board's operations for a process that outlives the daemon: each call finds it anew, or starts it. A call that was on its way when the
 * daemon died fails and is not made a second time: it may have had effects.
 */

import { createClient } from "../client/client.ts";
import { ensureDaemon } from "../daemon/find-daemon.ts";
import type { CallOrigin } from "../protocol/call-origin.ts";
import type { CallOperation } from "../protocol/operations.ts";

export function daemonCall(directory: string, origin: CallOrigin): CallOperation {
  return async (name, input, options) => {
    const { daemon } = await ensureDaemon(directory, { signal: options?.signal });
    return createClient({ url: daemon.url, token: daemon.token, origin }).operate(name, input, options);
  };
}
