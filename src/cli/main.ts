/**
 * The command line's entry: picks the command by the table, runs it, and turns how it ended into an exit code. Owns the process:
 * signals, broken pipes, the last flush. What the commands do is in their own files.
 */
import { resolve } from "node:path";
import { isatty } from "node:tty";
import { AsyncAgentsError } from "../model/errors.ts";
import { storageDirectory } from "../process/data-folder.ts";
import { type CommandArguments, chooseCommand, parseArguments } from "./arguments.ts";
import type { Command, Invocation } from "./command.ts";
import { COMMANDS } from "./commands.ts";
import { Connection } from "./connection.ts";
import { EXIT, exitCodeOf } from "./exit-codes.ts";
import { commandHelp, groupHelp, groupOf, overallHelp, unknownCommand } from "./help.ts";
import { Output, type StreamName } from "./terminal/output.ts";
import { Screen } from "./terminal/screen.ts";

/** `--version` is a command for everybody but us. */
const words = process.argv
  .slice(2)
  .map((word, index) => (index === 0 && /^(--version|-[vV])$/.test(word) ? "version" : word));
/** Said relative to where the command is called; the daemon works elsewhere. */
const FOLDERS = ["ASYNCAGENTS_HOME", "ASYNCAGENTS_WORKTREES"];
const SAME_INTERRUPT_MS = 300;
const interruption = new AbortController();

const output = new Output(outputFailed);

/**
 * A reader that has read enough (`| head`) ends the command at once and quietly, with the code that a shell gives for git and others then.
 * What cannot be written for another reason is a failure. On stderr there are only hints: the command goes on without them.
 */
function outputFailed(stream: StreamName, failure: NodeJS.ErrnoException): void {
  if (stream === "stderr") return;
  if (failure.code === "EPIPE") process.exit(EXIT.closedPipe);
  const reason = new Error(`The output could not be written: ${failure.message}`, { cause: failure });
  screenFor(wantsJson()).failure(reason);
  void output.flush().then(() => process.exit(EXIT.failed));
}

/** The runtime's streams are touched only on a terminal: they would make a pipe non-blocking, for others who share it too. */
function screenFor(json: boolean): Screen {
  const stdout = isatty(1) ? process.stdout : null;
  const stderr = isatty(2) ? process.stderr : null;
  return new Screen({ output, stdout, stderr, json, environment: process.env });
}

/** What `--json` asks for also holds for the failure to read the words. */
function wantsJson(): boolean {
  const end = words.indexOf("--");
  return words.slice(0, end === -1 ? words.length : end).includes("--json");
}

async function runWords(): Promise<number> {
  const { command, rest, unknown } = chooseCommand(COMMANDS, words);
  const screen = screenFor(wantsJson());
  if (!command) {
    const wantsHelp = [...rest, ...unknown].some((word) => word === "--help" || word === "-h");
    const group = groupOf(COMMANDS, unknown[0] ?? "");
    if (unknown.length > 0 && !(wantsHelp && group.length > 0)) throw unknownCommand(COMMANDS, unknown);
    const text = unknown.length > 0 ? groupHelp(group, screen) : overallHelp(COMMANDS, screen);
    if (wantsHelp) screen.text(text);
    else screen.hint(text.trimEnd());
    return wantsHelp ? EXIT.ok : EXIT.usage;
  }
  const given = parseArguments(command, rest);
  if (given.flag("help")) {
    screen.text(commandHelp(command, screen));
    return EXIT.ok;
  }
  return runCommand(command, given, screen);
}

async function runCommand(command: Command, given: CommandArguments, screen: Screen): Promise<number> {
  for (const name of FOLDERS) if (process.env[name]) process.env[name] = resolve(process.env[name]);
  const directory = storageDirectory();
  const { signal } = interruption;
  const invocation: Invocation = {
    arguments: given,
    screen,
    directory,
    signal,
    commands: COMMANDS,
    connection: new Connection(directory, screen, signal),
    cwd: process.cwd(),
    environment: process.env,
  };
  if (!command.ownsSignals) listenToInterrupts();
  return command.run(invocation);
}

/** The first Ctrl-C lets the command say what goes on; a later one ends it at once. A launcher may pass the same one on twice. */
function listenToInterrupts(): void {
  let first = Number.POSITIVE_INFINITY;
  process.on("SIGINT", () => {
    if (performance.now() - first > SAME_INTERRUPT_MS) process.exit(EXIT.interrupted);
    first = Math.min(first, performance.now());
    interruption.abort();
  });
}

/** What the client says about a connection that failed hides the reason that we know. */
function reasonOf(thrown: unknown): unknown {
  const cause = thrown instanceof Error ? thrown.cause : undefined;
  return AsyncAgentsError.isInstance(cause) ? cause : thrown;
}

async function ended(): Promise<number> {
  try {
    return await runWords();
  } catch (thrown) {
    // While a question is open, the terminal gives Ctrl-C to that.
    const isAbort = thrown instanceof Error && thrown.name === "AbortError";
    if (interruption.signal.aborted || isAbort) return EXIT.interrupted;
    const reason = reasonOf(thrown);
    screenFor(wantsJson()).failure(reason);
    return exitCodeOf(reason);
  }
}

/** Not all that was to be said is written. Who closes stderr wants no hints. */
function isIncomplete(): boolean {
  const unsaid = output.failureOf("stderr");
  return output.failureOf("stdout") !== null || (unsaid !== null && unsaid.code !== "EPIPE");
}

const code = await ended();
await output.flush();
process.exit(code === EXIT.ok && isIncomplete() ? EXIT.failed : code);
