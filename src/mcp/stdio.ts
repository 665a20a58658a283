/**
 * The MCP server on the standard streams of this process: nothing but the protocol is written there. Ends with its client, and
 * not with the daemon: whoever gives `call` finds the daemon again.
 */
import { StdioServerTransport, serveStdio as serve } from "@modelcontextprotocol/server/stdio";
import { createServer, type McpOptions } from "./server.ts";

/** Resolves when the client is gone. */
export function serveStdio(options: McpOptions): Promise<void> {
  const transport = new StdioServerTransport();
  const { promise, resolve } = Promise.withResolvers<void>();
  serve(() => createServer(options), { transport });
  const close = transport.onclose;
  transport.onclose = () => {
    close?.();
    resolve();
  };
  return promise;
}
