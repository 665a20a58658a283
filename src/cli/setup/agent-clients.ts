/**
 * The clients that `install` supports: where each keeps its configuration, and what has to be in it. Claude's own
 * files are changed by Claude's command, because Claude rewrites them all the time. To support another client, add a
 * function here.
 */
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve, sep } from "node:path";
import { pathToFileURL } from "node:url";
import { appendJsonc, parseJsonc, plainOf, setJsonc } from "../../configuration/jsonc.ts";
import { DEPTH_HEADER, DEPTH_VARIABLE } from "../../protocol/call-origin.ts";
import { type ConfigChange, planChange, withoutSecret } from "./config-change.ts";

export const CLIENTS = ["opencode", "claude", "cursor"] as const;
export type ClientName = (typeof CLIENTS)[number];

export interface InstallRequest {
  /** In the current folder's project, or for the user. */
  scope: "user" | "project";
  /** For OpenCode and Claude: the plugin, the MCP server, or, for OpenCode, both. */
  add: "plugin" | "mcp" | "both";
  /** The daemon's MCP server over HTTP instead of a command; null for the command. */
  http: { url: string; token: string } | null;
  cwd: string;
  environment: Readonly<Record<string, string | undefined>>;
}

/**
 * Either files to change, or a client's program that changes them. `lacks`: what cannot be installed, and what to do
 * about it.
 */
export type InstallPlan =
  | { changes: readonly ConfigChange[]; lacks?: string }
  /** Its calls, one after the other. */
  | { programs: readonly (readonly string[])[]; shown: readonly string[] };

const ROOT = join(import.meta.dir, "../../..");
const NAME = "asyncagents";
const PANEL = join(ROOT, "dist", "tui", "panel.js");

export function planInstall(client: ClientName, request: InstallRequest): InstallPlan {
  if (client === "opencode") return openCodePlan(request);
  if (client === "cursor") return { changes: [mcpServersChange(cursorFile(request), request)] };
  if (request.scope === "project") return { changes: [mcpServersChange(join(request.cwd, ".mcp.json"), request)] };
  if (request.add !== "mcp") return claudePlugin();
  const variables = Object.entries(dataFolder(request)).flatMap(([name, value]) => ["--env", `${name}=${value}`]);
  const args = ["mcp", "add", "--scope", "user", NAME, ...variables, "--", ...mcpCommandLine()];
  return programPlan([args]);
}

/** Claude reads the plugin where it is: in this package's own folder. */
function claudePlugin(): InstallPlan {
  return programPlan([
    ["plugin", "marketplace", "add", join(ROOT, "claude-code")],
    ["plugin", "install", `${NAME}@${NAME}`],
  ]);
}

function programPlan(calls: readonly (readonly string[])[]): InstallPlan {
  const program = claudeProgram() ?? "";
  return {
    programs: calls.map((args) => [program, ...args]),
    shown: calls.map((args) => ["claude", ...args].join(" ")),
  };
}

/** The plugin has two parts, each with a file of its own: OpenCode's server loads one, its screen the other. */
function openCodePlan(request: InstallRequest): InstallPlan {
  const plugin = openCodeChange(request);
  if (request.add === "mcp") return { changes: [plugin] };
  if (existsSync(PANEL)) return { changes: [plugin, panelChange(request)] };
  const remedy = `Run \`npm run build\` in ${ROOT}, and then this command once more.`;
  return { changes: [plugin], lacks: `The panel for OpenCode's screen was not built, so it is left out. ${remedy}` };
}

function panelChange(request: InstallRequest): ConfigChange {
  const panel = pathToFileURL(PANEL).href;
  const edit = (text: string) => (namesPlugin(text, "/dist/tui/panel.js") ? text : appendJsonc(text, "plugin", panel));
  return planChange(openCodeFile(request, "tui"), edit, JSON.stringify({ plugin: [panel] }, null, 2));
}

function openCodeChange(request: InstallRequest): ConfigChange {
  const plugin = pathToFileURL(join(ROOT, "src", "opencode", "server.ts")).href;
  const server = request.http
    ? { type: "remote", ...remoteServer(request.http, `{env:${DEPTH_VARIABLE}}`), enabled: true }
    : { type: "local", command: mcpCommandLine(), ...withVariables("environment", request), enabled: true };
  const withPlugin = request.add !== "mcp";
  const withServer = request.add !== "plugin";
  const edit = (text: string) => {
    let changed = text;
    if (withPlugin && !namesPlugin(text, "/src/opencode/server.ts")) changed = appendJsonc(changed, "plugin", plugin);
    if (withServer && !isSame(text, ["mcp", NAME], server)) changed = setJsonc(changed, ["mcp", NAME], server);
    return changed;
  };
  const advice = { ...(withPlugin ? { plugin: [plugin] } : {}), ...(withServer ? { mcp: { [NAME]: server } } : {}) };
  const secret = request.http?.token;
  const shown = withoutSecret(JSON.stringify(advice, null, 2), secret);
  return { ...planChange(openCodeFile(request, "opencode"), edit, shown), secret };
}

/** Also under an older path, as a folder (`opencode plug`), or with options. */
function namesPlugin(text: string, path: string): boolean {
  const { plugin } = plainOf(parseJsonc(text)) as { plugin?: unknown };
  return (Array.isArray(plugin) ? plugin : []).some((entry) => {
    const name = String(Array.isArray(entry) ? entry[0] : entry);
    return name === NAME || name === ROOT || name.startsWith(`${NAME}@`) || name.endsWith(path);
  });
}

/** `depth`: how the client is told its depth in the chain of agents, so that our agents do not launch others. */
function remoteServer({ url, token }: NonNullable<InstallRequest["http"]>, depth: string) {
  return { url: `${url}/mcp`, headers: { Authorization: `Bearer ${token}`, [DEPTH_HEADER]: depth } };
}

function mcpServersChange(file: string, request: InstallRequest): ConfigChange {
  const { http } = request;
  const [command = "", ...args] = mcpCommandLine();
  // The daemon never starts the clients that use this.
  const server = http ? remoteServer(http, "0") : { command, args, ...withVariables("env", request) };
  const edit = (text: string) =>
    isSame(text, ["mcpServers", NAME], server) ? text : setJsonc(text, ["mcpServers", NAME], server);
  const advice = withoutSecret(JSON.stringify({ mcpServers: { [NAME]: server } }, null, 2), http?.token);
  return { ...planChange(file, edit, advice), secret: http?.token };
}

/**
 * Clients start the server with few of our variables, or from another shell; without this it would use the default
 * data folder.
 */
function dataFolder({ environment, cwd, scope }: InstallRequest): Record<string, string> {
  const folder = environment.ASYNCAGENTS_HOME;
  return folder && scope === "user" ? { ASYNCAGENTS_HOME: resolve(cwd, folder) } : {};
}

function withVariables(field: "env" | "environment", request: InstallRequest): Record<string, Record<string, string>> {
  const variables = dataFolder(request);
  return Object.keys(variables).length > 0 ? { [field]: variables } : {};
}

function isSame(text: string, path: readonly string[], value: unknown): boolean {
  let found: unknown = plainOf(parseJsonc(text));
  for (const key of path) found = (found as Record<string, unknown> | undefined)?.[key];
  return JSON.stringify(found) === JSON.stringify(value);
}

/** Whichever exists: OpenCode reads both. */
function openCodeFile({ scope, cwd, environment }: InstallRequest, name: "opencode" | "tui"): string {
  const given = name === "tui" ? environment.OPENCODE_TUI_CONFIG : environment.OPENCODE_CONFIG;
  if (scope === "user" && given) return given;
  const home = environment.XDG_CONFIG_HOME || join(homedir(), ".config");
  const folder = scope === "project" ? cwd : join(home, "opencode");
  const commented = join(folder, `${name}.jsonc`);
  return existsSync(commented) ? commented : join(folder, `${name}.json`);
}

function cursorFile({ scope, cwd }: InstallRequest): string {
  return join(scope === "project" ? cwd : homedir(), ".cursor", "mcp.json");
}

/** A command that still works tomorrow: not a path in npx's cache. */
function mcpCommandLine(): string[] {
  if (Bun.which(NAME)) return [NAME, "mcp"];
  if (ROOT.split(sep).includes("_npx")) return ["npx", "-y", NAME, "mcp"];
  return ["node", join(ROOT, "bin", "asyncagents.mjs"), "mcp"];
}

function claudeProgram(): string | null {
  return Bun.which("claude");
}
