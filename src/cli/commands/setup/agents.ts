/** `agents`: the ACP agents that can be used here, which of them are installed, and, on request, whether they work. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import manifest from "../../../../package.json" with { type: "json" };
import type { CheckedAgent } from "../../../hosts/acp/agents/agent-check.ts";
import { type AcpAgent, AgentTable } from "../../../hosts/acp/agents/agent-table.ts";
import { AsyncAgentsError } from "../../../model/errors.ts";
import type { Command, Invocation } from "../../command.ts";
import { EXIT } from "../../exit-codes.ts";
import { type Column, tableLines } from "../../terminal/table.ts";
import { oneLine } from "../../terminal/text.ts";

/** Below this width, how an agent is installed matters more than what it cannot do. */
const NARROW = 100;

export const agentsCommand: Command = {
  name: "agents",
  summary: "list the ACP agents, and what each of them can do here",
  details:
    "Agents that speak the Agent Client Protocol run as `--host acp:NAME`. With --check, each installed agent (or the named ones) is started once, without asking a model: this shows whether it works, and what it announces. Exits with 1 if one of them does not work. With names, limits are shown in full; a narrow terminal shows them only then.",
  operands: [{ name: "name", optional: true, repeated: true }],
  options: { check: { summary: "start the agents, to see whether they work" } },
  examples: [
    "asyncagents agents",
    "asyncagents agents --check codex",
    'asyncagents run --host acp:codex "Fix the build"',
  ],
  run: listAgents,
};

interface AgentRow extends AcpAgent {
  checked: CheckedAgent | null;
}

async function listAgents(invocation: Invocation): Promise<number> {
  const { arguments: given, screen, environment } = invocation;
  const table = new AgentTable(environment, invocation.configuration().agents.known);
  const wanted = given.operands;
  const agents = wanted.length === 0 ? table.all() : wanted.map((name) => agentNamed(table, name));
  const checking = given.flag("check") ? checkAll(table, agents, wanted.length > 0) : null;
  const checks = checking ? await screen.during("starting the agents", checking) : new Map<string, CheckedAgent>();
  const rows = agents.map((agent): AgentRow => ({ ...agent, checked: checks.get(agent.name) ?? null }));
  screen.show({ agents: rows.map((row) => shown(row, table)) }, () => {
    const without = [...(checks.size > 0 ? [] : ["CONTINUES"]), ...(screen.width < NARROW ? ["LIMITS"] : [])];
    const columns = COLUMNS.filter(({ title }) => !without.includes(title));
    for (const line of tableLines(columns, rows, screen)) screen.line(line);
    // A narrow terminal cuts the rows.
    for (const row of wanted.length > 0 ? rows : []) {
      screen.line(`${row.name}: ${[...limitsOf(row), row.program ?? row.install ?? ""].join("; ")}`);
    }
    for (const { name, checked } of rows) {
      if (checked?.problem) screen.hint(`${name}: ${oneLine(checked.problem)}`);
    }
    const isNone = wanted.length === 0 && rows.every(({ program }) => program === null);
    if (isNone) screen.hint("None is installed. The column INSTALL says how.");
  });
  return [...checks.values()].every(({ problem }) => problem === null) ? EXIT.ok : EXIT.failed;
}

function agentNamed(table: AgentTable, name: string): AcpAgent {
  const found = table.find(name.toLowerCase());
  if (found) return found;
  const message = `There is no ACP agent ${JSON.stringify(name.slice(0, 40))}. Add it to agents.known in asyncagents.json, or use one of ${table.names.join(", ")}.`;
  throw new AsyncAgentsError("unknown_agent", message);
}

/** One after the other: each takes up to half a gigabyte. In an empty folder, so that no project's settings count. */
async function checkAll(table: AgentTable, agents: readonly AcpAgent[], isNamed: boolean) {
  const { checkAgent } = await import("../../../hosts/acp/agents/agent-check.ts");
  const directory = await mkdtemp(join(tmpdir(), "asyncagents-agents-"));
  const checks = new Map<string, CheckedAgent>();
  try {
    for (const agent of agents) {
      if (agent.program === null && !isNamed) continue;
      checks.set(agent.name, await checkAgent(table, agent, { directory, version: manifest.version }));
    }
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
  return checks;
}

function shown({ name, title, program, tested, install, limits, isUntested, checked }: AgentRow, table: AgentTable) {
  const agent = table.find(name);
  const problem = checked?.problem ?? (agent ? table.problem(agent) : null);
  return {
    name,
    title,
    installed: program !== null,
    program,
    tested,
    untested: isUntested,
    install,
    limits,
    problem,
    checked,
  };
}

const COLUMNS: Column<AgentRow>[] = [
  { title: "NAME", cell: ({ name }) => name },
  { title: "STATE", cell: stateOf },
  { title: "TESTED", cell: ({ tested, isUntested }) => tested ?? (isUntested ? "no" : "-") },
  { title: "CONTINUES", cell: ({ program, checked }) => (program === null ? "-" : (checked?.continues ?? "-")) },
  {
    title: "LIMITS",
    cell: (row) => limitsOf(row).join("; ") || "-",
    least: 10,
  },
  { title: "INSTALL", cell: ({ program, install }) => (program === null ? (install ?? "-") : program), least: 10 },
];

function limitsOf({ limits, isUntested }: AgentRow): string[] {
  return isUntested ? [...limits, "strict rules apply"] : [...limits];
}

function stateOf({ program, checked }: AgentRow): string {
  if (program === null) return "not installed";
  if (checked === null) return "installed";
  if (checked.needsLogin) return "needs a login";
  if (checked.problem !== null) return "does not work";
  return checked.version === null ? "works" : `works (${checked.version})`;
}
