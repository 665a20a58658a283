/**
 * The entry point of the command line: finds the command in the table, runs it, and converts its outcome to an exit
 * code. Owns the process: signals, broken pipes, the final flush. The commands live in their own files.
 */
import { resolve } from "node:path";
import { isatty } from "node:tty";
import { readConfiguration } from "../configuration/configuration.ts";
import { findDaemon } from "../daemon/find-daemon.ts";
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

/** For everyone else `--version` is an option; here it is a command. */
const words = process.argv
  .slice(2)
  .map((word, index) => (index === 0 && /^(--version|-[vV])$/.test(word) ? "version" : word));
/** Relative to the directory the command was called in; the daemon runs elsewhere. */
const FOLDERS = ["ASYNCAGENTS_HOME", "ASYNCAGENTS_WORKTREES"];
const SAME_INTERRUPT_MS = 300;
const LAUNCHER_LOOK_MS = 1000;
const LONGEST_TIMER_MS = 2 ** 31 - 1;
const interruption = new AbortController();

const output = new Output(outputFailed);

/**
 * When a reader has read enough (`| head`), the command ends immediately and quietly, with the exit code that git and
 * others have then. Any other write error is a failure. stderr only carries hints: the command continues without
 * them.
 */
function outputFailed(stream: StreamName, failure: NodeJS.ErrnoException): void {
  if (stream === "stderr") return;
  if (failure.code === "EPIPE") process.exit(EXIT.closedPipe);
  const reason = new Error(`The output could not be written: ${failure.message}`, { cause: failure });
  screenFor(wantsJson()).failure(reason);
  void output.flush().then(() => process.exit(EXIT.failed));
}

/**
 * The runtime's streams are only used on a terminal: they would make a pipe non-blocking, even for other processes
 * that share it.
 */
function screenFor(json: boolean): Screen {
  const stdout = isatty(1) ? process.stdout : null;
  const stderr = isatty(2) ? process.stderr : null;
  return new Screen({ output, stdout, stderr, json, environment: process.env });
}

/** `--json` also applies when parsing the words fails. */
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
  // Read at every call: a command may have set a variable for the daemon that it starts.
  const daemonRuns = () => findDaemon(directory) !== null;
  const configuration = () => readConfiguration({ directory, environment: process.env, daemonRuns });
  const invocation: Invocation = {
    arguments: given,
    screen,
    directory,
    signal,
    commands: COMMANDS,
    configuration,
    connection: new Connection({ directory, screen, signal, configuration }),
    cwd: process.cwd(),
    environment: process.env,
  };
  if (!command.ownsSignals) listenToInterrupts();
  return command.run(invocation);
}

/**
 * The first Ctrl-C lets the command say what keeps running; another one ends it immediately. A launcher may forward
 * the same Ctrl-C twice.
 */
function listenToInterrupts(): void {
  let first = Number.POSITIVE_INFINITY;
  process.on("SIGINT", () => {
    if (performance.now() - first > SAME_INTERRUPT_MS) process.exit(EXIT.interrupted);
    first = Math.min(first, performance.now());
    interruption.abort();
  });
}

/**
 * A launcher that is killed with SIGKILL passes nothing on: a runner would go on with nobody's knowledge. Nothing that
 * this process starts sees the variable.
 */
function endWithLauncher(): void {
  const launcher = Number(process.env.ASYNCAGENTS_LAUNCHER);
  delete process.env.ASYNCAGENTS_LAUNCHER;
  if (!(launcher > 0) || process.ppid !== launcher) return;
  const look = setInterval(() => {
    if (process.ppid === launcher) return;
    clearInterval(look);
    process.kill(process.pid, "SIGTERM");
  }, LAUNCHER_LOOK_MS);
  look.unref();
}

/** The client's message about a failed connection hides the reason that we know. */
function reasonOf(thrown: unknown): unknown {
  const cause = thrown instanceof Error ? thrown.cause : undefined;
  return AsyncAgentsError.isInstance(cause) ? cause : thrown;
}

async function ended(): Promise<number> {
  try {
    return await runWords();
  } catch (thrown) {
    // While a question is open, the terminal sends Ctrl-C to that question.
    const isAbort = thrown instanceof Error && thrown.name === "AbortError";
    if (interruption.signal.aborted || isAbort) return EXIT.interrupted;
    const reason = reasonOf(thrown);
    screenFor(wantsJson()).failure(reason);
    return exitCodeOf(reason);
  }
}

/** Not everything was written. Closing stderr means that hints are not wanted. */
function isIncomplete(): boolean {
  const unsaid = output.failureOf("stderr");
  return output.failureOf("stdout") !== null || (unsaid !== null && unsaid.code !== "EPIPE");
}

endWithLauncher();
// Bun's event loop turns without rest while this waits for a promise and nothing else keeps the process alive: the
// timers of a runner do not.
setInterval(() => {}, LONGEST_TIMER_MS);
const code = await ended();
await output.flush();
process.exit(code === EXIT.ok && isIncomplete() ? EXIT.failed : code);
