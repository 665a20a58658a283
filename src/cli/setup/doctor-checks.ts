/**
 * The conditions asyncagents needs to work here, one function per condition, each with its remedy. The checks leave
 * nothing behind: they start no daemon, and create or migrate no folder and no store.
 */
import { accessSync, constants, existsSync, mkdtempSync, readFileSync, rmdirSync, type Stats, statSync } from "node:fs";
import { createServer } from "node:net";
import { dirname, join, sep } from "node:path";
import manifest from "../../../package.json" with { type: "json" };
import { mistypedVariables } from "../../configuration/configuration.ts";
import { worktreesFolder } from "../../configuration/sections/worktrees.ts";
import { type DaemonRecord, findDaemon } from "../../daemon/find-daemon.ts";
import { AgentTable } from "../../hosts/acp/agents/agent-table.ts";
import { findOpenCode } from "../../hosts/opencode/program.ts";
import { livingServers } from "../../http/discovery.ts";
import { messageOf } from "../../model/errors.ts";
import type { HostName } from "../../protocol/executor-names.ts";
import { ago } from "../terminal/text.ts";
import { checkClaudeTools } from "./claude-tools.ts";
import { answering } from "./daemon-check.ts";
import { type CheckContext, type Finding, ok, problem, warning } from "./finding.ts";
import { checkNotifications } from "./notification-check.ts";
import { programOutput } from "./programs.ts";
import { checkSameStore, checkStore, checkTroubles } from "./store-checks.ts";
import { checkTelemetry } from "./telemetry-check.ts";

const MIN_BUN = "1.3.14";
const MIN_GIT = "2.30";
/** In bytes, for one path segment, on common file systems. */
const LONGEST_NAME = 255;
const QUIET = { info: () => {}, error: () => {} };

export const CHECKS: readonly ((context: CheckContext) => Promise<Finding | Finding[]>)[] = [
  async () => ok("asyncagents", manifest.version),
  async () =>
    isAtLeast(Bun.version, MIN_BUN)
      ? ok("bun", Bun.version)
      : problem("bun", Bun.version, `Bun ${MIN_BUN} or newer is needed: npm install -g bun`),
  checkNode,
  checkGit,
  checkHosts,
  checkClaudeTools,
  checkFolder,
  checkSettings,
  checkStore,
  checkTroubles,
  checkDashboard,
  checkDaemon,
  checkPort,
  checkWorktrees,
  checkNotifications,
  checkTelemetry,
];

async function versionOf(command: string): Promise<string | null> {
  const { code, text } = await programOutput(command, ["--version"]);
  return code === 0 ? (/\d+\.\d+[\w.+-]*/.exec(text)?.[0] ?? text.trim()) : null;
}

async function checkNode(): Promise<Finding> {
  const version = await versionOf("node");
  if (version === null)
    return warning("node", "not found", "The installed command needs Node 20 or newer: https://nodejs.org");
  return isAtLeast(version, "20")
    ? ok("node", version)
    : warning("node", version, "The installed command needs Node 20 or newer.");
}

async function checkGit(): Promise<Finding> {
  const version = await versionOf("git");
  if (version === null) return problem("git", "not found", "Attempts work in git worktrees: install git.");
  return isAtLeast(version, MIN_GIT)
    ? ok("git", version)
    : problem("git", version, `git ${MIN_GIT} or newer is needed.`);
}

/** The version of the program behind each host; null: ships with us, and does not count as a host that can be used. */
const VERSIONS: Readonly<Record<HostName, ((context: CheckContext) => Promise<string>) | null>> = {
  opencode: openCodeVersion,
  claude: claudeVersions,
  acp: acpVersions,
  scripted: null,
};

/** What the daemon would report about the hosts it can start. */
async function checkHosts(context: CheckContext): Promise<Finding[]> {
  const { directory, configuration, environment } = context;
  const { hostMakers } = await import("../../daemon/host-makers.ts");
  const makers = hostMakers({ directory, configuration, environment: { ...environment }, log: QUIET });
  const checked = await Promise.all(
    makers.map(async (maker): Promise<Finding[]> => {
      const version = VERSIONS[maker.kind];
      if (version === null) return [];
      const trouble = await maker.problem().catch(messageOf);
      if (trouble !== null) return [warning(maker.kind, "cannot be used", trouble)];
      return [ok(maker.kind, await version(context))];
    }),
  );
  const found = checked.flat();
  const none = problem(
    "hosts",
    "none can be used",
    "Install OpenCode (npm install -g opencode-ai), Claude Code or an ACP agent (asyncagents agents lists them).",
  );
  return found.some(({ state }) => state === "ok") ? found : [...found, none];
}

async function openCodeVersion({ environment, configuration }: CheckContext): Promise<string> {
  const program = findOpenCode({ ...environment }, configuration.opencode.program) ?? "opencode";
  return `${(await versionOf(program)) ?? "of unknown version"} (${program})`;
}

/** Tasks run on the SDK's own Claude; the one on the PATH belongs to the user. */
async function claudeVersions(): Promise<string> {
  const [sdk, program] = await Promise.all([sdkVersion(), versionOf("claude")]);
  return `SDK ${sdk ?? "of unknown version"}, ${program === null ? "no claude on the PATH (tasks use the one of the SDK)" : `claude ${program}`}`;
}

/** The agents that are installed; a version that was not tested may fail in ways that nobody has seen. */
async function acpVersions({ environment, configuration }: CheckContext): Promise<string> {
  const installed = new AgentTable(environment, configuration.agents.known).installed();
  const shown = installed.map(({ name, isUntested, tested }) =>
    isUntested ? `${name} (not tested: strict rules apply)` : `${name} (tested with ${tested})`,
  );
  return `${shown.join(", ")}; asyncagents agents says what each cannot do`;
}

async function sdkVersion(): Promise<string | null> {
  try {
    const entry = Bun.resolveSync("@anthropic-ai/claude-agent-sdk", import.meta.dir);
    return JSON.parse(readFileSync(join(dirname(entry), "package.json"), "utf8")).version;
  } catch {
    return null;
  }
}

async function checkFolder({ directory }: CheckContext): Promise<Finding> {
  const name = "data folder";
  const found = existing(directory);
  if (!found) {
    const trouble = cannotMake(directory);
    return trouble === null
      ? ok(name, `${directory} (created at first use)`)
      : problem(
          name,
          `${directory} cannot be created: ${trouble}`,
          "Set ASYNCAGENTS_HOME to a folder that you can write to.",
        );
  }
  if (!found.isDirectory())
    return problem(name, `${directory} is not a folder`, "Remove it, or set ASYNCAGENTS_HOME to a folder.");
  if (!isWritable(directory)) return problem(name, `${directory} cannot be written`, `chown -R "$USER" '${directory}'`);
  const mode = found.mode & 0o777;
  if ((mode & 0o077) !== 0)
    return warning(name, `${directory} is open to others (${mode.toString(8)})`, `chmod 700 '${directory}'`);
  return ok(name, directory);
}

/** The file may hold the password of a database, and decides what may be spent: only its owner should write it. */
async function checkSettings({ applied, environment }: CheckContext): Promise<Finding[]> {
  const name = "settings";
  const { file, isPresent, problems } = applied;
  const found = problems.map((each) => problem(name, each, "Correct it. asyncagents config shows all settings."));
  for (const { name: variable, meant } of mistypedVariables(environment)) {
    found.push(warning(name, `${variable} is set, and is not a setting`, `Did you mean ${meant}?`));
  }
  const mode = (existing(file)?.mode ?? 0) & 0o077;
  if (mode !== 0) found.push(warning(name, `${file} is open to others`, `chmod 600 '${file}'`));
  return found.length > 0 ? found : [ok(name, isPresent ? file : `${file} (none; the defaults apply)`)];
}

async function checkDashboard(): Promise<Finding> {
  if (existsSync(new URL("../../../dashboard/dist/index.html", import.meta.url))) return ok("dashboard", "built");
  return warning(
    "dashboard",
    "not built: the page cannot be shown",
    "Run `npm run build` in the folder of asyncagents.",
  );
}

async function checkDaemon(context: CheckContext): Promise<Finding[]> {
  const { directory } = context;
  const daemon = findDaemon(directory);
  const others = livingServers(directory).filter(({ kind }) => kind !== "daemon");
  const found = daemon
    ? [await answering(daemon, shown(daemon), context.configuration), ...checkSameStore(daemon, context)]
    : [ok("daemon", "not running (starts when a command needs it)")];
  if (others.length > 0) {
    found.push(ok("other servers", others.map(({ pid, url }) => `${url} (OpenCode, pid ${pid})`).join(", ")));
  }
  return found;
}

function shown({ url, pid, version, startedAt }: DaemonRecord): string {
  return `${url}, pid ${pid}, version ${version}, started ${ago(startedAt, Date.now())}`;
}

async function checkPort({ directory, configuration }: CheckContext): Promise<Finding> {
  const { port } = configuration.api;
  const ours = livingServers(directory).find((server) => server.port === port);
  if (ours) return ok("port", `${port}, used by asyncagents (pid ${ours.pid})`);
  if (port === 0) return ok("port", "any free port");
  if (await isFree(port)) return ok("port", `${port} is free`);
  return warning(
    "port",
    `${port} is taken by another program`,
    "One of the next ports is used; set api.port in asyncagents.json to choose another.",
  );
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen({ host: "127.0.0.1", port, exclusive: true }, () => server.close(() => resolve(true)));
  });
}

async function checkWorktrees({ directory, configuration }: CheckContext): Promise<Finding> {
  const folder = worktreesFolder(directory, configuration.worktrees);
  const trouble = existing(folder)?.isDirectory() && isWritable(folder) ? null : cannotMake(folder);
  if (trouble === null) return ok("worktrees", folder);
  return problem(
    "worktrees",
    `${folder} cannot be written: ${trouble}`,
    "Set ASYNCAGENTS_WORKTREES to a folder that you can write to.",
  );
}

function existing(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

/** Why a missing folder could not be created; null if it could. Tried in the nearest existing folder, and undone. */
function cannotMake(path: string): string | null {
  if (path.split(sep).some((name) => Buffer.byteLength(name) > LONGEST_NAME)) return "the name of a folder is too long";
  if (existing(path)) return "something else has that name, or it is not writable";
  let nearest = dirname(path);
  while (!existing(nearest) && dirname(nearest) !== nearest) nearest = dirname(nearest);
  try {
    rmdirSync(mkdtempSync(join(nearest, ".asyncagents-doctor-")));
    return null;
  } catch (thrown) {
    return messageOf(thrown).split(",")[0] ?? "";
  }
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK | constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

export function isAtLeast(found: string, wanted: string): boolean {
  const numbers = (version: string) => version.split(".").map((part) => Number.parseInt(part, 10) || 0);
  const [have, want] = [numbers(found), numbers(wanted)];
  for (const [index, least] of want.entries()) {
    const difference = (have[index] ?? 0) - least;
    if (difference !== 0) return difference > 0;
  }
  return true;
}
