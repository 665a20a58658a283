/**
 * Parses words into a command and its arguments, using the command table. Options may appear anywhere after the
 * command; everything after `--` is taken literally. Wrong usage is `invalid_input` with the correct usage. Runs
 * nothing.
 */
import { parseArgs } from "node:util";
import { AsyncAgentsError } from "../model/errors.ts";
import { isNear } from "../model/text/near-words.ts";
import { type Command, type CommandOption, GLOBAL_OPTIONS, type Operand } from "./command.ts";

interface Chosen {
  command: Command | null;
  /** The words after the command's name. */
  rest: string[];
  /** Words that match no command. */
  unknown: string[];
}

/** The command with the longest name that matches the first words; global switches may precede it. */
export function chooseCommand(commands: readonly Command[], words: readonly string[]): Chosen {
  const first = words.findIndex((word) => !isGlobalSwitch(word));
  const switches = first === -1 ? [...words] : words.slice(0, first);
  const others = first === -1 ? [] : words.slice(first);
  for (let length = Math.min(3, others.length); length > 0; length--) {
    const name = others.slice(0, length).join(" ");
    const command = commands.find((each) => each.name === name || each.aliases?.includes(name));
    if (command) return { command, rest: [...switches, ...others.slice(length)], unknown: [] };
  }
  return { command: null, rest: switches, unknown: others };
}

function isGlobalSwitch(word: string): boolean {
  return Object.entries(GLOBAL_OPTIONS).some(([name, { short }]) => word === `--${name}` || word === `-${short}`);
}

/** The values of options that are numbers. */
const NUMBERS: readonly string[] = ["number", "dollars"];
const UNITS_MS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

type Values = Readonly<Record<string, string | boolean | (string | boolean)[] | undefined>>;

export class CommandArguments {
  readonly operands: readonly string[];
  readonly #values: Values;

  constructor(operands: readonly string[], values: Values) {
    this.operands = operands;
    this.#values = values;
  }

  has(name: string): boolean {
    return this.#values[name] !== undefined;
  }

  flag(name: string): boolean {
    return this.#values[name] === true;
  }

  text(name: string): string | undefined {
    const value = this.#values[name];
    return typeof value === "string" ? value : undefined;
  }

  texts(name: string): string[] {
    const value = this.#values[name];
    return Array.isArray(value) ? value.map(String) : [];
  }

  /** A whole number of at least 1. */
  count(name: string): number | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
    throw new AsyncAgentsError("invalid_input", `--${name} must be a whole number, 1 or more, not "${text}".`);
  }

  /** A number above 0, such as 0.5. */
  amount(name: string): number | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    if (/^\d{1,9}(\.\d{1,9})?$/.test(text) && Number(text) > 0) return Number(text);
    throw new AsyncAgentsError("invalid_input", `--${name} must be a positive number, not "${text}".`);
  }

  /** A number with its unit; returned in milliseconds. Without one, nobody knows which was meant. */
  duration(name: string): number | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    const [, number, unit] = /^(\d{1,9}(?:\.\d+)?)(ms|s|m|h|d)$/.exec(text) ?? [];
    if (number !== undefined) return Math.round(Number(number) * UNITS_MS[unit as keyof typeof UNITS_MS]);
    throw new AsyncAgentsError("invalid_input", `--${name} takes a time such as 30s, 5m or 1h, not "${text}".`);
  }

  /** Hours or days of at least 1, which is how long things are kept; returned in milliseconds. */
  age(name: string): number | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    const [, number, unit] = /^([1-9]\d{0,4})(h|d)$/.exec(text) ?? [];
    if (number !== undefined) return Number(number) * UNITS_MS[unit as "h" | "d"];
    throw new AsyncAgentsError(
      "invalid_input",
      `--${name} takes hours or days, such as 12h or 90d, not "${text.slice(0, 40)}".`,
    );
  }

  /** The operand at that position; commands only ask for operands their table entry requires. */
  operand(index: number): string {
    return this.operands[index] ?? "";
  }
}

export function parseArguments(command: Command, words: readonly string[]): CommandArguments {
  const options = { ...command.options, ...GLOBAL_OPTIONS };
  const parsed = parsedWords(command, words, options);
  const result = new CommandArguments(parsed.positionals, parsed.values);
  if (result.flag("help")) return result;
  checkOperands(command, parsed.positionals);
  if (command.options?.wait && result.has("timeout") && !result.flag("wait"))
    throw misuse(command, "--timeout needs --wait: add --wait, or remove --timeout.");
  return result;
}

function parsedWords(command: Command, words: readonly string[], options: Record<string, CommandOption>) {
  const config = Object.fromEntries(
    Object.entries(options).map(([name, { value, short, multiple }]) => [
      name,
      {
        type: value === undefined ? ("boolean" as const) : ("string" as const),
        multiple: multiple ?? false,
        ...(short === undefined ? {} : { short }),
      },
    ]),
  );
  try {
    return parseArgs({ args: joinedNumbers(words, options), options: config, allowPositionals: true, strict: true });
  } catch (thrown) {
    throw misuse(command, parseProblem(thrown, words, Object.keys(options)));
  }
}

/** `--priority -1` as `--priority=-1`: a number is no option, and what takes it judges it. */
function joinedNumbers(words: readonly string[], options: Record<string, CommandOption>): string[] {
  const end = words.indexOf("--");
  const joined: string[] = [];
  for (const [index, word] of words.entries()) {
    const last = joined.at(-1) ?? "";
    const isOption = last.startsWith("--") && NUMBERS.includes(options[last.slice(2)]?.value ?? "");
    const isBefore = end === -1 || index < end;
    if (isBefore && isOption && /^-\d/.test(word)) joined[joined.length - 1] = `${last}=${word}`;
    else joined.push(word);
  }
  return joined;
}

/** Our own wording, because Node and Bun word it differently. */
function parseProblem(thrown: unknown, words: readonly string[], names: readonly string[]): string {
  const { code, message } = thrown as { code?: string; message: string };
  if (code === "ERR_PARSE_ARGS_UNKNOWN_OPTION") {
    const option = /'([^']+)'/.exec(message)?.[1]?.split(" ")[0] ?? words.find((word) => word.startsWith("-")) ?? "";
    const near = names.find((name) => isNear(name, option.replace(/^--/, "")));
    const hint = near ? `Did you mean --${near}?` : 'Text that starts with "-" goes after "--".';
    return `There is no option ${option}. ${hint}`;
  }
  const [, name] = /'(?:-., )?--([^' ]+)[^']*' argument is ambiguous/.exec(message) ?? [];
  if (name !== undefined) return `--${name} needs a value. Write a value that starts with "-" as --${name}=-…`;
  const [, lacking] = /'(?:-., )?--([^' ]+)[^']*' argument missing/.exec(message) ?? [];
  if (lacking !== undefined) return `--${lacking} needs a value.`;
  return `${message.split("\n")[0]?.replace(/\.?$/, ".") ?? ""}`;
}

function checkOperands(command: Command, given: readonly string[]): void {
  const operands = command.operands ?? [];
  const missing = operands.slice(given.length).find(({ optional }) => !optional);
  if (missing) throw misuse(command, `${shownOperand(missing)} is missing${exampleOf(command)}.`);
  const most = operands.some(({ repeated }) => repeated) ? Number.POSITIVE_INFINITY : operands.length;
  if (given.length > most) {
    // Only a text has several words that belong together.
    const takesText = operands.some((operand) => /^["']/.test(shownOperand(operand)));
    const hint = takesText ? ": put text of several words in quotes" : "";
    const instead = command.insteadWithText === undefined ? "" : ` ${command.insteadWithText}`;
    throw misuse(command, `"${(given[most] ?? "").slice(0, 60)}" is unexpected${hint}.${instead}`);
  }
}

function shownOperand({ name, shown = `<${name}>` }: Operand): string {
  return shown;
}

function exampleOf({ examples: [example] = [] }: Command): string {
  return example === undefined ? "" : ` (for example: ${example})`;
}

export function misuse(command: Command, problem: string): AsyncAgentsError {
  return new AsyncAgentsError("invalid_input", `${problem} Usage: ${usageOf(command)}`);
}

export function usageOf(command: Command): string {
  const operands = (command.operands ?? []).map((operand) => {
    const { optional, repeated } = operand;
    const one = repeated ? `${shownOperand(operand)}…` : shownOperand(operand);
    return optional ? `[${one}]` : one;
  });
  const options = Object.keys(command.options ?? {}).length > 0 ? ["[options]"] : [];
  return ["asyncagents", command.name, ...operands, ...options].join(" ");
}
