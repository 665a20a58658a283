/**
 * Help generated from the command table: the overview, a group, one command, and suggestions for an unknown one.
 * Pure.
 */
import { AsyncAgentsError } from "../model/errors.ts";
import { isNear } from "../model/text/near-words.ts";
import { usageOf } from "./arguments.ts";
import { type Command, type CommandOption, GLOBAL_OPTIONS } from "./command.ts";
import { EXIT_MEANINGS } from "./exit-codes.ts";
import type { Paint } from "./terminal/paint.ts";
import { padTo, wrapped } from "./terminal/text.ts";

interface HelpStyle {
  paint: Paint;
  width: number;
}

/** The order of the overview, by the first word of each command. */
const SECTIONS: readonly { title: string; names: readonly string[] }[] = [
  {
    title: "Tasks",
    names: [
      "run",
      "ls",
      "show",
      "logs",
      "export",
      "wait",
      "watch",
      "stats",
      "budget",
      "cancel",
      "edit",
      "rm",
      "steer",
      "steered",
      "resume",
      "fork",
      "attach",
      "inbox",
      "answer",
      "tell",
      "approvals",
      "approve",
      "deny",
    ],
  },
  { title: "The board", names: ["project", "item", "attempt"] },
  { title: "The daemon", names: ["up", "down", "restart", "open", "link", "mcp", "store", "prune"] },
  { title: "Many machines", names: ["runner", "runners", "token", "audit"] },
  {
    title: "Setting up",
    names: ["install", "config", "notifications", "doctor", "agents", "completion", "version", "help"],
  },
];

const MAX_WIDTH = 100;

export function overallHelp(commands: readonly Command[], style: HelpStyle): string {
  const { paint } = style;
  const lines = [
    `${paint.bold("asyncagents")}: background tasks for coding agents`,
    "",
    "Usage: asyncagents <command> [options]",
  ];
  for (const { title, names } of SECTIONS) {
    const rows = names.map((name): Row => {
      const single = commands.find((command) => command.name === name);
      const group = groupOf(commands, name);
      const words = group.length === 0 ? [] : [groupWords(group, name)];
      return [name, [...(single ? [single.summary] : []), ...words].join("; ")];
    });
    lines.push("", paint.bold(title), ...rowLines(rows, style));
  }
  lines.push(
    "",
    paint.bold("Exit codes"),
    ...rowLines(
      EXIT_MEANINGS.map(([code, says]): Row => [String(code), says]),
      style,
    ),
  );
  const notes = [
    "`asyncagents help <command>` describes a command. All commands accept --json. Ids can be shortened to a unique prefix; for tasks, the last characters work too.",
    "The daemon starts automatically when a command needs it. ASYNCAGENTS_HOME sets the data folder; `asyncagents config` shows the settings.",
  ];
  return `${[...lines, "", ...notes.map((note) => wrapped(note, widthOfHelp(style), 0))].join("\n")}\n`;
}

/** The commands that begin with this word and have more words. */
export function groupOf(commands: readonly Command[], word: string): Command[] {
  return commands.filter(({ name, hidden }) => !hidden && name.startsWith(`${word} `));
}

function groupWords(group: readonly Command[], name: string): string {
  return group.map((command) => command.name.slice(name.length + 1)).join(", ");
}

export function groupHelp(group: readonly Command[], style: HelpStyle): string {
  const [first = ""] = group[0]?.name.split(" ") ?? [];
  const rows = group.map(({ name, summary }): Row => [name, summary]);
  return `${[`Usage: asyncagents ${first} <command>`, "", ...rowLines(rows, style)].join("\n")}\n`;
}

export function commandHelp(command: Command, style: HelpStyle): string {
  const { paint } = style;
  const lines = [command.summary.replace(/^./, (first) => first.toUpperCase()), "", `Usage: ${usageOf(command)}`];
  if (command.aliases?.length) lines.push(`Aliases: ${command.aliases.join(", ")}`);
  if (command.details) lines.push("", wrapped(command.details, widthOfHelp(style), 0));
  const options = Object.entries({ ...command.options, ...GLOBAL_OPTIONS });
  lines.push("", paint.bold("Options"));
  lines.push(
    ...rowLines(
      options.map(([name, option]): Row => [optionWords(name, option), option.summary]),
      style,
    ),
  );
  if (command.examples?.length) lines.push("", paint.bold("Examples"), ...command.examples.map((each) => `  ${each}`));
  return `${lines.join("\n")}\n`;
}

type Row = readonly [name: string, says: string];

function rowLines(rows: readonly Row[], style: HelpStyle): string[] {
  const wide = Math.max(...rows.map(([name]) => name.length));
  return rows.map(([name, says]) => `  ${padTo(name, wide)}  ${wrapped(says, widthOfHelp(style), wide + 4)}`);
}

function widthOfHelp({ width }: HelpStyle): number {
  return Math.min(width, MAX_WIDTH);
}

function optionWords(name: string, { short, value }: CommandOption): string {
  return `${short ? `-${short}, ` : "    "}--${name}${value ? ` <${value}>` : ""}`;
}

export function unknownCommand(commands: readonly Command[], words: readonly string[]): AsyncAgentsError {
  const [first = "", second] = words;
  const group = groupOf(commands, first);
  if (group.length > 0) {
    const what =
      second === undefined ? `"${first}" needs one more word` : `There is no command "${first} ${second.slice(0, 40)}"`;
    const names = group.flatMap(({ name, aliases = [] }) => [name, ...aliases]);
    const near = second === undefined ? undefined : names.find((name) => isNear(name, `${first} ${second}`));
    const hint = near === undefined ? "" : ` Did you mean "${near}"?`;
    return new AsyncAgentsError("invalid_input", `${what}: ${groupWords(group, first)}.${hint}`);
  }
  // The part of the name within its group, such as "repo ls" in "project repo ls".
  const shown = commands.filter(({ hidden }) => !hidden);
  const inside =
    shown.find(({ name }) => name.endsWith(` ${first} ${second}`)) ??
    shown.find(({ name }) => name.split(" ").slice(1).includes(first));
  const names = shown.flatMap(({ name, aliases = [] }) => [name, ...aliases]);
  const meant = names.find((name) => isNear(name, first)) ?? inside?.name;
  const hint = meant ? `Did you mean "${meant}"?` : "See: asyncagents help";
  return new AsyncAgentsError("invalid_input", `There is no command "${first.slice(0, 60)}". ${hint}`);
}
