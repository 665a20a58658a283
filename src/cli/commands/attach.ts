/**
 * `attach`: into a task's session, in the agent's own program, in the task's directory. The daemon says which program
 * that is; it runs in this terminal, and the command ends with it.
 */
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { AsyncAgentsError } from "../../model/errors.ts";
import type { OperationOutput } from "../../protocol/operations.ts";
import type { Command } from "../command.ts";
import { isAskable, isConfirmed } from "../confirmation.ts";
import { EXIT } from "../exit-codes.ts";
import { resolveTask } from "../identifiers.ts";

type Attachment = OperationOutput<"attach">;

export const attachCommand: Command = {
  name: "attach",
  summary: "open a task's session in the agent's own program",
  details:
    "OpenCode is attached to the daemon's own server; Claude Code resumes the session in the task's directory. What you type there is not a run of the task: its status and result stay as they are. If a run is live you are asked first, because you and the agent would work in one session. Without a terminal, or with --print, the command to type is printed; it may hold a password.",
  operands: [{ name: "task", completes: "task" }],
  options: {
    print: { summary: "only print the command" },
    yes: { short: "y", summary: "do not ask about a live run" },
  },
  examples: ["asyncagents attach 7KPnYJq"],
  ownsSignals: true,
  async run(invocation) {
    const { arguments: given, connection, screen } = invocation;
    const client = await connection.client();
    const { id } = await resolveTask(client, given.operand(0));
    const found = await screen.during("asking the daemon", client.attach(id));
    if (given.flag("print") || !isAskable(invocation)) {
      screen.show(found, () => screen.line(lineOf(found)));
      return EXIT.ok;
    }
    if (!existsSync(found.directory)) {
      const message = `The folder ${found.directory} is gone, so the session cannot be opened there. Read it with: asyncagents logs ${id}`;
      throw new AsyncAgentsError("host_unavailable", message);
    }
    const question = "A run is live in this session: what you type gets in its way. Open it anyway?";
    if (found.live && !given.flag("yes") && !(await isConfirmed(invocation, question))) return EXIT.failed;
    await screen.flush();
    return run(found);
  },
};

/** For a shell. */
function lineOf({ program, arguments: words, environment, directory }: Attachment): string {
  const quoted = (text: string) => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);
  const settings = Object.entries(environment).map(([name, value]) => `${name}=${quoted(value)}`);
  return `cd ${quoted(directory)} && ${[...settings, ...[program, ...words].map(quoted)].join(" ")}`;
}

/** Ctrl-C belongs to the program; it does not outlive this command. */
function run({ program, arguments: words, environment, directory }: Attachment): Promise<number> {
  return new Promise((resolve, reject) => {
    const env = { ...process.env, ...environment };
    const child = spawn(program, words, { cwd: directory, env, stdio: "inherit" });
    process.on("SIGINT", () => undefined);
    for (const signal of ["SIGTERM", "SIGHUP"] as const) process.on(signal, () => child.kill(signal));
    child.once("error", (cause) => {
      reject(new AsyncAgentsError("host_unavailable", `${program} cannot be started: ${cause.message}`, { cause }));
    });
    child.once("exit", (code) => resolve(code ?? EXIT.interrupted));
  });
}
