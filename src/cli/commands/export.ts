/**
 * `export`: a task with its whole conversation, as Markdown for people or as complete JSON for programs, to stdout or
 * into a file for its owner only. Written page by page, whatever the length. Changes nothing.
 */
import { type FileHandle, open, rm } from "node:fs/promises";
import { resolve } from "node:path";
import type { Client } from "../../client/client.ts";
import { AsyncAgentsError, messageOf } from "../../model/errors.ts";
import { escapeHidden, markHidden } from "../../model/text/hidden-characters.ts";
import type { BackgroundTask } from "../../protocol/tasks.ts";
import type { Command, Invocation } from "../command.ts";
import { EXIT } from "../exit-codes.ts";
import { conversationPages } from "../exporting/conversation-pages.ts";
import { messageMarkdown, taskMarkdown } from "../exporting/markdown.ts";
import { resolveTask } from "../identifiers.ts";

const FORMATS = ["markdown", "json"] as const;
type Format = (typeof FORMATS)[number];

export const exportCommand: Command = {
  name: "export",
  summary: "write a task with its conversation as Markdown or JSON",
  details:
    "Markdown leaves out what is only meant for the model, and spells out characters that a terminal would obey. JSON is complete: the task, its newest 200 runs, and every message as the agent's program has it. If the conversation cannot be read any more, the rest is written, and the exit code is 1.",
  operands: [{ name: "task", completes: "task" }],
  options: {
    format: { value: "name", summary: "markdown (the default) or json; --json means json", completes: FORMATS },
    output: { value: "file", short: "o", summary: "write a new file instead of stdout", completes: "file" },
  },
  examples: ["asyncagents export 7KPnYJq > task.md", "asyncagents export 7KPnYJq --format json -o task.json"],
  async run(invocation) {
    const { arguments: given, connection, cwd, screen } = invocation;
    const format = formatOf(invocation);
    const client = await connection.client();
    const task = await resolveTask(client, given.operand(0));
    const output = given.text("output");
    if (output === undefined) {
      const print = async (text: string) => {
        screen.text(text);
        await screen.flush();
      };
      return writeTask(invocation, { client, task, format, write: print });
    }
    const path = resolve(cwd, output);
    const file = await newFile(path);
    try {
      const code = await writeTask(invocation, { client, task, format, write: (text) => file.writeFile(text) });
      screen.hint(`Written: ${path}`);
      return code;
    } catch (thrown) {
      await rm(path, { force: true });
      throw thrown;
    } finally {
      await file.close();
    }
  },
};

function formatOf({ arguments: given, screen }: Invocation): Format {
  const named = given.text("format") ?? (screen.json ? "json" : "markdown");
  const format = FORMATS.find((each) => each === named);
  if (format) return format;
  throw new AsyncAgentsError("invalid_input", `--format is markdown or json, not "${named.slice(0, 40)}".`);
}

/** A conversation is private, and an existing file is not ours to replace. */
async function newFile(path: string): Promise<FileHandle> {
  try {
    return await open(path, "wx", 0o600);
  } catch (cause) {
    const exists = (cause as NodeJS.ErrnoException).code === "EEXIST";
    const why = exists ? "it exists already. Name another file, or remove that one" : messageOf(cause);
    throw new AsyncAgentsError("invalid_input", `${path} cannot be written: ${why}.`, { cause });
  }
}

interface Export {
  client: Client;
  task: BackgroundTask;
  format: Format;
  write(text: string): Promise<void>;
}

async function writeTask({ screen, signal }: Invocation, { client, task, format, write }: Export): Promise<number> {
  const runs = await client.runs(task.id, signal);
  const isJson = format === "json";
  const put = (text: string) => write(isJson ? escapeHidden(text) : markHidden(text.replaceAll("\r\n", "\n")));
  await put(isJson ? `{\n"task": ${pretty(task)},\n"runs": ${pretty(runs)},\n"messages": [` : taskMarkdown(task, runs));
  let problem: string | null = null;
  let count = 0;
  try {
    for await (const messages of conversationPages(client, task.id, signal)) {
      for (const message of messages) {
        await put(isJson ? `${count === 0 ? "" : ","}\n${pretty(message)}` : messageMarkdown(message));
        count++;
      }
    }
  } catch (thrown) {
    if (!AsyncAgentsError.isInstance(thrown) || signal.aborted) throw thrown;
    problem = `The conversation could not be read${count === 0 ? "" : " to its end"}: ${thrown.message}`;
  }
  if (isJson) await put(`\n],\n"problem": ${JSON.stringify(problem)}\n}\n`);
  else if (problem !== null) await put(`*${problem}*\n`);
  if (problem !== null) screen.hint(problem);
  return problem === null ? EXIT.ok : EXIT.failed;
}

function pretty(value: unknown): string {
  return JSON.stringify(value, null, 2);
}
