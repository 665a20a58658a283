/** `runners`: the runners of all machines that use the store, and what they lack. Read-only. */
import type { ServerRunner } from "../../protocol/runners.ts";
import type { Command } from "../command.ts";
import { EXIT } from "../exit-codes.ts";
import type { Paint } from "../terminal/paint.ts";
import { type Column, tableLines } from "../terminal/table.ts";
import { ago, oneLine, shortId } from "../terminal/text.ts";

export const runnersCommand: Command = {
  name: "runners",
  summary: "list the runners of all machines",
  details:
    "With --all, also those that ended in the last hour; those that died are listed as gone for that long. Below the table: what living runners lack.",
  options: { all: { summary: "also those that have ended" } },
  examples: ["asyncagents runners", "asyncagents runners --json | jq -r '.runners[] | select(.state == \"gone\")'"],
  async run({ arguments: given, connection, screen }) {
    const known = await (await connection.client()).runners();
    const runners = known.filter(({ state }) => screen.json || given.flag("all") || state !== "ended");
    screen.show({ runners }, () => {
      if (runners.length === 0) return screen.hint("No runner is running. Start one: asyncagents runner");
      for (const line of tableLines(columns(Date.now(), screen.paint), runners, screen)) screen.line(line);
      for (const line of lackLines(runners)) screen.hint(line);
    });
    return EXIT.ok;
  },
};

function columns(now: number, paint: Paint): Column<ServerRunner>[] {
  return [
    { title: "ID", cell: ({ id }) => shortId(id) },
    { title: "STATE", cell: ({ state }) => state, paint: (text, { state }) => painted(text, state, paint) },
    { title: "LOAD", cell: ({ state, load, max }) => (isLiving(state) ? `${load}/${max}` : "-"), right: true },
    { title: "MACHINE", cell: ({ hostname }) => hostname, least: 8 },
    { title: "HOSTS", cell: ({ hosts }) => hosts.join(","), least: 8 },
    { title: "LABELS", cell: ({ labels }) => labels.join(",") || "-", least: 6 },
    { title: "LIMITS", cell: ({ limits }) => limitText(limits) || "-", least: 6 },
    { title: "VERSION", cell: ({ version }) => version },
    { title: "LAST SEEN", cell: ({ lastBeat }) => ago(lastBeat, now) },
  ];
}

function isLiving(state: ServerRunner["state"]): boolean {
  return state === "running" || state === "draining";
}

function painted(text: string, state: ServerRunner["state"], paint: Paint): string {
  if (state === "running") return paint.green(text);
  if (state === "draining") return paint.yellow(text);
  return state === "gone" ? paint.red(text) : paint.dim(text);
}

/** As the options of `runner` take them. */
function limitText({ total, hosts, models, labels }: ServerRunner["limits"]): string {
  const named = Object.entries({ host: hosts, model: models, label: labels }).flatMap(([kind, limits]) =>
    Object.entries(limits ?? {}).map(([name, limit]) => `${kind}:${name}=${limit}`),
  );
  return [...(total === undefined ? [] : [`total=${total}`]), ...named].join(" ");
}

function lackLines(runners: readonly ServerRunner[]): string[] {
  const living = runners.filter(({ state }) => isLiving(state));
  return living.flatMap(({ id, lacks }) =>
    lacks.map(({ kind, name, reason }) => `${shortId(id)} lacks the ${kind} ${oneLine(name)}: ${oneLine(reason)}`),
  );
}
