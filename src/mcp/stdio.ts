/**
 * The MCP server on stdin and stdout of this process; nothing else is written there. It ends with its client, not
 * with the daemon: `call` finds a restarted daemon again.
 */
import { StdioServerTransport, serveStdio as serve } from "@modelcontextprotocol/server/stdio";
import { createServer, type McpOptions } from "./server.ts";

/** Resolves when the client disconnects. */
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
