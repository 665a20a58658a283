/**
 * `config`: the settings that apply here and where each comes from, or their JSON schema. Works with wrong settings,
 * and says what is wrong with them. A password is never shown. Changes nothing, and needs no daemon.
 */
import { statSync } from "node:fs";
import {
  type AppliedConfiguration,
  type AppliedSetting,
  applyConfiguration,
  mistypedVariables,
} from "../../../configuration/configuration.ts";
import { configurationSchemaText } from "../../../configuration/json-schema.ts";
import { findDaemon } from "../../../daemon/find-daemon.ts";
import type { Command, Invocation } from "../../command.ts";
import { EXIT } from "../../exit-codes.ts";
import { type Column, tableLines } from "../../terminal/table.ts";

export const configCommand: Command = {
  name: "config",
  summary: "show the settings that apply, and where each comes from",
  details:
    "Settings are in asyncagents.json in the data folder; environment variables override it. The daemon and OpenCode read them when they start. Exits with 5 if something is wrong with them: nothing starts then, and a daemon that runs keeps the settings that it started with.",
  options: { schema: { summary: "print the JSON schema of asyncagents.json, for editors" } },
  examples: ["asyncagents config", "asyncagents config --schema > asyncagents.schema.json"],
  async run(invocation) {
    const { arguments: given, screen, directory, environment } = invocation;
    if (given.flag("schema")) {
      screen.text(configurationSchemaText());
      return EXIT.ok;
    }
    const applied = applyConfiguration({ directory, environment });
    const { file, isPresent, settings, problems } = applied;
    screen.show({ file, exists: isPresent, settings: settings.map(documentOf), problems }, () =>
      showTable(invocation, applied),
    );
    return problems.length === 0 ? EXIT.ok : EXIT.noDaemon;
  },
};

function documentOf({ section, name, setting, value, source }: AppliedSetting) {
  const shown = setting.shown !== undefined && value !== undefined ? setting.shown(value) : value;
  return { name: `${section}.${name}`, value: shown ?? null, source, variable: setting.variable ?? null };
}

function showTable({ screen, directory, environment }: Invocation, applied: AppliedConfiguration): void {
  const { file, isPresent, settings, problems } = applied;
  const { paint } = screen;
  screen.line(isPresent ? file : `${file}  (does not exist)`);
  const isDefault = ({ source }: AppliedSetting) => source === "default";
  const columns: Column<AppliedSetting>[] = [
    { title: "SETTING", cell: ({ section, name }) => `${section}.${name}` },
    {
      title: "VALUE",
      cell: valueText,
      least: 12,
      paint: (text, row) => (isDefault(row) ? paint.dim(text) : text),
    },
    { title: "FROM", cell: sourceText, least: 8, paint: (text, row) => (isDefault(row) ? paint.dim(text) : text) },
  ];
  for (const line of tableLines(columns, settings, { width: screen.width, paint })) screen.line(line);
  for (const problem of problems) screen.line(`${paint.red("✗")} ${problem}`);
  const daemon = findDaemon(directory);
  if (problems.length > 0) {
    const meanwhile = daemon ? "The daemon that runs keeps the settings that it started with; nothing else" : "Nothing";
    screen.line(`${meanwhile} starts until this is corrected. The table shows what would apply without it.`);
  }
  for (const { name, meant } of mistypedVariables(environment)) {
    screen.hint(`${name} is set, and is not a setting. Did you mean ${meant}?`);
  }
  if (isPresent && problems.length === 0 && daemon && statSync(file).mtimeMs > Date.parse(daemon.startedAt)) {
    screen.hint("The daemon started before the file was changed. To use it: asyncagents restart");
  }
}

function valueText({ setting, value, source }: AppliedSetting): string {
  if (source === "default") return setting.otherwise;
  const shown = setting.shown === undefined ? value : setting.shown(value);
  return typeof shown === "string" ? shown : JSON.stringify(shown);
}

function sourceText({ setting, source }: AppliedSetting): string {
  return source === "environment" ? (setting.variable ?? source) : source;
}
