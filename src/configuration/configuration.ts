/**
 * The settings that apply in a process, from the plugin's options, the environment, `asyncagents.json` and the
 * defaults, in this order. One wrong value refuses all of them, because a default in its place may cost money; the
 * message lists everything that is wrong. Changes nothing.
 */
import { AsyncAgentsError } from "../model/errors.ts";
import { nearestOf } from "../model/text/near-words.ts";
import { type Checked, checkFile, checkSettings, isObject, valueProblems } from "./check.ts";
import { configurationFile, readConfigurationFile } from "./file.ts";
import type { Setting } from "./section.ts";
import { type Configuration, SECTIONS, type Sections } from "./sections.ts";

export type SettingSource = "options" | "environment" | "file" | "default";

export interface ConfigurationSources {
  /** The data folder. */
  directory: string;
  environment: Readonly<Record<string, string | undefined>>;
  /** The plugin's, as written in opencode.json. */
  options?: unknown;
  /** Whether a daemon runs, for the message about settings that cannot be used: it keeps those that it started with. */
  daemonRuns?(): boolean;
}

export interface AppliedSetting {
  section: string;
  name: string;
  setting: Setting;
  value: unknown;
  source: SettingSource;
}

export interface AppliedConfiguration {
  /** Its path, whether or not it exists. */
  file: string;
  isPresent: boolean;
  settings: AppliedSetting[];
  /** Sentences. Empty if everything can be used. */
  problems: string[];
}

const MOST_PROBLEMS = 10;

/** Everything that can be set, as a flat list. */
const ALL: readonly Omit<AppliedSetting, "value" | "source">[] = Object.entries(SECTIONS).flatMap(
  ([section, { settings }]) => Object.entries(settings).map(([name, setting]) => ({ section, name, setting })),
);

/** Throws `configuration_invalid`. */
export function readConfiguration(sources: ConfigurationSources): Configuration {
  const applied = applyConfiguration(sources);
  if (applied.problems.length > 0) throw unusable(applied.problems, sources.daemonRuns?.() ?? false);
  return valuesOf(applied);
}

/** Also of a configuration with problems, with defaults in place of what is wrong: for what only looks. */
export function valuesOf({ settings }: AppliedConfiguration): Configuration {
  const values: Record<string, Record<string, unknown>> = {};
  for (const { section, name, value } of settings) {
    values[section] ??= {};
    values[section][name] = value;
  }
  return values as Configuration;
}

/** With what is wrong, in place of throwing. */
export function applyConfiguration({ directory, environment, options }: ConfigurationSources): AppliedConfiguration {
  const file = configurationFile(directory);
  const found = readConfigurationFile(file);
  const inFile = "problem" in found ? { values: new Map(), problems: [found.problem] } : checkedFile(found);
  const inEnvironment = fromEnvironment(environment);
  const inOptions = fromOptions(options);
  const settings = ALL.map((each): AppliedSetting => {
    const { setting } = each;
    if (inOptions.values.has(setting)) return { ...each, value: inOptions.values.get(setting), source: "options" };
    if (inEnvironment.values.has(setting))
      return { ...each, value: inEnvironment.values.get(setting), source: "environment" };
    if (inFile.values.has(setting)) return { ...each, value: inFile.values.get(setting), source: "file" };
    return { ...each, value: setting.default, source: "default" };
  });
  const problems = [
    ...inFile.problems.map((problem) => `${file}: ${problem}`),
    ...inEnvironment.problems,
    ...inOptions.problems.map((problem) => `The options of the asyncagents plugin in opencode.json: ${problem}`),
    ...Object.entries(SECTIONS as Sections).flatMap(([name, { problems: inSection }]) =>
      (inSection?.(valuesIn(settings, name)) ?? []).map((problem) => `${file}: ${problem}`),
    ),
  ];
  return { file, isPresent: !("state" in found && found.state === "absent"), settings, problems };
}

function valuesIn(settings: readonly AppliedSetting[], name: string): Record<string, unknown> {
  const own = settings.filter(({ section }) => section === name);
  return Object.fromEntries(own.map((each) => [each.name, each.value]));
}

function checkedFile(found: { state: "absent" } | { state: "read"; content: unknown }): Checked {
  return found.state === "absent" ? { values: new Map(), problems: [] } : checkFile(SECTIONS, found.content);
}

function fromEnvironment(environment: ConfigurationSources["environment"]): Checked {
  const checked: Checked = { values: new Map(), problems: [] };
  for (const { setting } of ALL) {
    const { variable, kind } = setting;
    const text = variable === undefined ? "" : (environment[variable]?.trim() ?? "");
    if (variable === undefined || text === "") continue;
    const value = kind.fromText(text);
    const problems = valueProblems(setting, value, variable);
    if (problems.length === 0) checked.values.set(setting, value);
    checked.problems.push(...problems);
  }
  return checked;
}

function fromOptions(options: unknown): Checked {
  const checked: Checked = { values: new Map(), problems: [] };
  if (options === undefined || options === null) return checked;
  const known = ALL.filter(({ setting }) => setting.pluginOption);
  const settings = Object.fromEntries(known.map(({ name, setting }) => [name, setting]));
  if (isObject(options)) checkSettings(settings, options, "", checked);
  else checked.problems.push("they must be an object, { … }");
  return checked;
}

/** Variables that look like a mistyped one of ours. They are not errors: others may use that prefix. */
export function mistypedVariables(environment: ConfigurationSources["environment"]): { name: string; meant: string }[] {
  const known = ALL.flatMap(({ setting }) => setting.variable ?? []);
  const ours = Object.keys(environment).filter((name) => name.startsWith("ASYNCAGENTS_") && !known.includes(name));
  return ours.flatMap((name) => {
    const meant = nearestOf(known, name);
    return meant === undefined ? [] : [{ name, meant }];
  });
}

function unusable(problems: readonly string[], daemonRuns: boolean): AsyncAgentsError {
  const more = problems.length - MOST_PROBLEMS;
  const shown = problems.slice(0, MOST_PROBLEMS).map((problem) => problem.replace(/[.?]?$/, (end) => end || "."));
  const lines = [
    daemonRuns
      ? "The settings of asyncagents cannot be used. The daemon that runs keeps the settings that it started with; it and its tasks go on."
      : "The settings of asyncagents cannot be used, so nothing is started.",
    ...shown,
    ...(more > 0 ? [`… and ${more} more.`] : []),
    `Correct them and ${daemonRuns ? "apply them with `asyncagents restart`" : "try again"}. \`asyncagents config --schema\` describes all settings.`,
  ];
  return new AsyncAgentsError("configuration_invalid", lines.join("\n"), { details: { problems: [...problems] } });
}
