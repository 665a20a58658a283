/**
 * How Claude Code gets our tools in a folder: from the plugin, and from an MCP server of its own settings. With both, a
 * model sees every tool twice. Reads Claude's files, and changes none: that is up to Claude's command.
 */
import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { type CheckContext, type Finding, warning } from "./finding.ts";

type Place = Pick<CheckContext, "environment" | "cwd">;

const NAME = "asyncagents";
export const REMOVE_PLUGIN = `claude plugin uninstall ${NAME}`;
export const REMOVE_SERVER = `claude mcp remove ${NAME}`;

export function claudeTools({ environment, cwd }: Place): { plugin: boolean; server: boolean } {
  const own = environment.CLAUDE_CONFIG_DIR || null;
  const settings = read(join(own ?? join(homedir(), ".claude"), "settings.json"));
  const user = read(join(own ?? homedir(), ".claude.json"));
  const folders = [...upwards(cwd)];
  const hasServer = (...path: string[]) => valueAt(user, ...path, "mcpServers", NAME) !== undefined;
  return {
    plugin: valueAt(settings, "enabledPlugins", `${NAME}@${NAME}`) === true,
    server:
      hasServer() ||
      folders.some((folder) => hasServer("projects", folder)) ||
      folders.some((folder) => valueAt(read(join(folder, ".mcp.json")), "mcpServers", NAME) !== undefined),
  };
}

export async function checkClaudeTools(place: CheckContext): Promise<Finding[]> {
  const { plugin, server } = claudeTools(place);
  if (!plugin || !server) return [];
  const says = "the plugin and the MCP server: its models see every tool twice";
  return [warning("claude tools", says, `The plugin has the server in it: ${REMOVE_SERVER}`)];
}

/** The folder and all above it: Claude knows a repository by its root. */
function* upwards(folder: string): Generator<string> {
  yield folder;
  if (dirname(folder) !== folder) yield* upwards(dirname(folder));
}

/** Null if there is no such file, or nothing that can be read. */
function read(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch {
    return null;
  }
}

function valueAt(value: unknown, ...path: readonly string[]): unknown {
  return path.reduce<unknown>((found, key) => (found as Record<string, unknown> | null)?.[key], value);
}
