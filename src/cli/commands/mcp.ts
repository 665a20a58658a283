/**
 * `mcp`: an MCP server on stdin and stdout for one client; the daemon executes every tool call. Nothing else is
 * printed.
 */
import manifest from "../../../package.json" with { type: "json" };
import { claudeClient } from "../../model/notifications/follower.ts";
import { DEPTH_VARIABLE, readDepth } from "../../protocol/call-origin.ts";
import type { Command } from "../command.ts";
import { daemonCall, daemonPoll } from "../daemon-call.ts";
import { EXIT } from "../exit-codes.ts";

export const mcpCommand: Command = {
  name: "mcp",
  summary: "MCP server on stdin and stdout, for an agent's configuration",
  details:
    "`asyncagents install` adds it to a client's configuration. It works for the directory in which it is started.",
  options: {
    tools: {
      value: "set",
      summary: "core: only the eleven tools of the board; extended (the default): all of them",
      completes: ["core", "extended"],
    },
  },
  examples: ["asyncagents mcp", "asyncagents mcp --tools core"],
  ownsSignals: true,
  async run({ arguments: given, directory, cwd, environment, configuration }) {
    const { tools, scripted } = configuration().mcp;
    // Imported here because it takes longer to load than most commands take to run.
    const [{ serveStdio }, { readToolset }] = await Promise.all([
      import("../../mcp/stdio.ts"),
      import("../../mcp/toolset.ts"),
    ]);
    const toolset = readToolset(given.text("tools") ?? tools);
    const origin = { door: "model", depth: readDepth(environment[DEPTH_VARIABLE] ?? "") } as const;
    const call = daemonCall(directory, origin);
    const poll = daemonPoll(directory, origin);
    const session = environment.CLAUDE_CODE_SESSION_ID;
    const client = session ? claudeClient(session) : null;
    await serveStdio({ call, poll, client, directory: cwd, toolset, scripted, version: manifest.version });
    return EXIT.ok;
  },
};
