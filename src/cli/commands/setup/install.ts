/** `install`: adds asyncagents to a client's configuration, after showing the change and asking. Needs no daemon. */
import { findDaemon } from "../../../daemon/find-daemon.ts";
import { AsyncAgentsError } from "../../../model/errors.ts";
import type { CommandArguments } from "../../arguments.ts";
import type { Command, Invocation } from "../../command.ts";
import { isConfirmed } from "../../confirmation.ts";
import { EXIT } from "../../exit-codes.ts";
import {
  CLIENTS,
  type ClientName,
  type InstallPlan,
  type InstallRequest,
  planInstall,
} from "../../setup/agent-clients.ts";
import { claudeTools, REMOVE_PLUGIN, REMOVE_SERVER } from "../../setup/claude-tools.ts";
import { type ConfigChange, diffLines, withoutSecret, writeChange } from "../../setup/config-change.ts";
import { programOutput } from "../../setup/programs.ts";

const ADDS = ["plugin", "mcp", "both"] as const;
/** Claude may look for updates first. */
const ASK_MS = 60_000;
const SCOPES = ["user", "project"] as const;

export const installCommand: Command = {
  name: "install",
  summary: "configure OpenCode, Claude Code or Cursor to use asyncagents",
  details: "Shows the change and asks before it writes. The old file is kept with the suffix .bak.",
  operands: [{ name: "client", shown: CLIENTS.join("|"), completes: CLIENTS }],
  options: {
    scope: {
      value: "scope",
      summary: "user (the default): for all your projects; project: for this folder",
      completes: SCOPES,
    },
    add: {
      value: "what",
      summary: "for opencode and claude: plugin (the default) or mcp; opencode: or both",
      completes: ADDS,
    },
    http: { summary: "for opencode and cursor: write the daemon's address and your token instead of a command" },
    yes: { short: "y", summary: "do not ask" },
    print: { summary: "only show the change" },
  },
  examples: ["asyncagents install opencode --add both", "asyncagents install claude --scope project --yes"],
  async run(invocation) {
    const { arguments: given, cwd, environment } = invocation;
    const client = oneOf(CLIENTS, given.operand(0), "client");
    const scope = choice(given, "scope", SCOPES);
    const http = given.flag("http") ? await daemonAddress(invocation, client, scope) : null;
    const add = http && given.text("add") === undefined ? "mcp" : choice(given, "add", ADDS);
    const request = { scope, add, http, cwd, environment };
    assertAdd(client, scope, given.text("add"));
    if (client === "claude" && !given.flag("print")) assertNotDoubled(request);
    const plan = planInstall(client, request);
    if ("programs" in plan) return installByProgram(invocation, client, plan);
    // Before the question, and also where nobody can be asked.
    if (plan.lacks !== undefined) invocation.screen.hint(plan.lacks);
    return installFiles(invocation, client, request, plan.changes);
  },
};

/**
 * Only where the token stays private: a project's file is often committed, and Claude's command line would expose it
 * to every user.
 */
async function daemonAddress(invocation: Invocation, client: ClientName, scope: InstallRequest["scope"]) {
  const { arguments: given, connection, directory } = invocation;
  if (client === "claude" || scope === "project") {
    const reason =
      scope === "project" ? "project files are often shared" : "its command line can be read by other users";
    const message = `--http would write your token where others can read it: ${reason}. Leave it out: the command needs no token.`;
    throw new AsyncAgentsError("invalid_input", message);
  }
  const isPrinted = given.flag("print");
  const daemon = isPrinted ? findDaemon(directory) : await connection.daemon();
  if (daemon === null) {
    const message = "No daemon is running, and --print starts none: its address is not known. Start it: asyncagents up";
    throw new AsyncAgentsError("daemon_unavailable", message);
  }
  const { url, token } = daemon;
  return { url, token };
}

/** Shows what changes in all files before it asks, once. */
async function installFiles(
  invocation: Invocation,
  client: ClientName,
  request: InstallRequest,
  plan: readonly ConfigChange[],
): Promise<number> {
  const { screen, arguments: given } = invocation;
  const changes = plan.filter(({ before, after }) => after !== before);
  const files = (changed: boolean, backups: ReadonlyMap<ConfigChange, string | null> = new Map()) =>
    plan.map((each) => ({
      file: each.file,
      changed: changed && changes.includes(each),
      backup: backups.get(each) ?? null,
    }));
  if (changes.length === 0) {
    screen.show({ client, ...files(false)[0], files: files(false) }, () => {
      for (const { file } of plan) screen.line(`${file} already has it.`);
    });
    return EXIT.ok;
  }
  if (!screen.json) {
    for (const change of changes) {
      screen.line(screen.paint.bold(change.file));
      for (const line of diffLines(change, screen.paint)) screen.line(line);
    }
  }
  if (given.flag("print")) {
    const shown = plan.map(({ file, before, after, secret }) => {
      const [was, will] = [withoutSecret(before, secret), withoutSecret(after, secret)];
      return { file, changed: false, before: was, after: will };
    });
    if (screen.json) screen.document({ client, ...shown[0], files: shown });
    return EXIT.ok;
  }
  if (!(await agreed(invocation))) return declined(invocation);
  const now = new Date();
  const backups = new Map(changes.map((change) => [change, writeChange(change, now)]));
  const written = files(true, backups);
  screen.show({ client, ...written[0], changed: true, files: written }, () => {
    for (const [{ file }, backup] of backups)
      screen.line(`Written: ${file}${backup ? `. The old file is ${backup}` : ""}`);
  });
  if (client === "opencode" && request.add !== "mcp") screen.hint("OpenCode loads the plugin at its next start.");
  return EXIT.ok;
}

async function installByProgram(
  invocation: Invocation,
  client: ClientName,
  { programs, shown }: Extract<InstallPlan, { programs: unknown }>,
): Promise<number> {
  const { screen, arguments: given } = invocation;
  if (!screen.json) {
    screen.line("Claude manages these files itself, so this uses its own command:");
    for (const line of shown) screen.line(`  ${line}`);
  }
  if (given.flag("print")) {
    if (screen.json) screen.document({ client, changed: false, command: shown.join("\n") });
    return EXIT.ok;
  }
  if (programs[0]?.[0] === "") {
    const message =
      "The claude command is not on the PATH. Install Claude Code (npm install -g @anthropic-ai/claude-code), or use --scope project, which writes .mcp.json here.";
    throw new AsyncAgentsError("host_unavailable", message);
  }
  if (!(await agreed(invocation, "Run this?"))) return declined(invocation);
  let isChanged = false;
  for (const [command = "", ...args] of programs) {
    const { code, text } = await screen.during("asking Claude", programOutput(command, args, ASK_MS));
    const hadIt = /already (exists|installed|added|on disk|enabled)/i.test(text);
    if (code !== 0 && !hadIt) throw new AsyncAgentsError("host_failed", `claude said: ${text.trim().slice(0, 500)}`);
    isChanged ||= !hadIt;
  }
  screen.show({ client, changed: isChanged, command: shown.join("\n") }, () => {
    screen.line(isChanged ? "Done. Claude Code loads it at its next start." : "Claude already has it.");
  });
  return EXIT.ok;
}

function assertAdd(client: ClientName, scope: InstallRequest["scope"], add: string | undefined): void {
  if (add === undefined || client === "opencode" || (client === "claude" && add !== "both" && scope === "user")) return;
  if (client === "claude" && add === "mcp") return;
  const message =
    client === "claude"
      ? "The plugin of Claude Code has the MCP server in it, and is for all your projects: leave --add out, or use --add mcp."
      : "Only opencode and claude have a plugin; --add is for them.";
  throw new AsyncAgentsError("invalid_input", message);
}

/** The plugin is for all projects, and the server may be there for this folder alone. */
function assertNotDoubled({ scope, add, ...place }: InstallRequest): void {
  const isPlugin = scope === "user" && add !== "mcp";
  const { plugin, server } = claudeTools(place);
  if (isPlugin ? !server : !plugin) return;
  const [other, remove] = isPlugin ? ["MCP server", REMOVE_SERVER] : ["plugin", REMOVE_PLUGIN];
  const message = `Claude Code already has the ${other}. The plugin has the server in it: with both, models would see every tool twice. To change over, run first: ${remove}`;
  throw new AsyncAgentsError("request_conflict", message);
}

async function agreed(invocation: Invocation, question = "Write this?"): Promise<boolean> {
  const { screen, arguments: given } = invocation;
  if (given.flag("yes")) return true;
  if (!process.stdin.isTTY || screen.json) {
    throw new AsyncAgentsError("missing_required", "Nothing was written: add --yes to write without being asked.");
  }
  try {
    return await isConfirmed(invocation, question);
  } catch (thrown) {
    screen.hint("\nNothing was written.");
    throw thrown;
  }
}

function declined({ screen }: Invocation): number {
  screen.hint("Nothing was written.");
  return EXIT.failed;
}

function choice<Name extends string>(given: CommandArguments, name: string, choices: readonly Name[]): Name {
  return oneOf(choices, given.text(name) ?? choices[0] ?? "", `--${name}`);
}

function oneOf<Name extends string>(choices: readonly Name[], text: string, what: string): Name {
  const found = choices.find((each) => each === text);
  if (found) return found;
  throw new AsyncAgentsError("invalid_input", `${what} is one of ${choices.join(", ")}, not "${text.slice(0, 40)}".`);
}
