/**
 * `completion` prints a shell's script; `complete` answers it. Ids are offered only if a daemon is running:
 * completion never starts one.
 */
import { type Client, createClient } from "../../../client/client.ts";
import { findDaemon } from "../../../daemon/find-daemon.ts";
import { AsyncAgentsError } from "../../../model/errors.ts";
import type { Command, Invocation } from "../../command.ts";
import { type Candidate, complete, completionScript, SHELLS, type Shell } from "../../completions.ts";
import { EXIT } from "../../exit-codes.ts";
import { allProjects, projectItems } from "../../identifiers.ts";
import { oneLine, shortId } from "../../terminal/text.ts";

const PATIENCE_MS = 1000;
const NEWEST = 50;

export const completionCommand: Command = {
  name: "completion",
  summary: "print the completion script for a shell",
  operands: [{ name: "shell", shown: SHELLS.join("|"), completes: SHELLS }],
  examples: [
    'eval "$(asyncagents completion bash)"   # in ~/.bashrc',
    "asyncagents completion fish > ~/.config/fish/completions/asyncagents.fish",
  ],
  async run({ arguments: given, screen, commands }) {
    const shell = SHELLS.find((each) => each === given.operand(0));
    if (!shell) {
      throw new AsyncAgentsError(
        "invalid_input",
        `There is no completion script for "${given.operand(0).slice(0, 40)}". Use one of ${SHELLS.join(", ")}.`,
      );
    }
    const script = completionScript(shell satisfies Shell, commands);
    screen.show({ shell, script }, () => screen.text(script));
    return EXIT.ok;
  },
};

export const completeCommand: Command = {
  name: "complete",
  summary: "answer a shell's completion",
  hidden: true,
  operands: [{ name: "words", optional: true, repeated: true }],
  async run(invocation) {
    const { arguments: given, screen, commands } = invocation;
    const found = complete(commands, given.operands);
    const last = given.operands.at(-1) ?? "";
    const candidates = "values" in found ? found.values : await placed(invocation, found.place);
    if (typeof candidates === "string") screen.line(candidates);
    else for (const [value, meaning] of candidates) if (value.startsWith(last)) screen.line(`${value}\t${meaning}`);
    return EXIT.ok;
  },
};

async function placed({ directory }: Invocation, place: string): Promise<Candidate[] | string> {
  if (place === "file") return ":files";
  if (place === "directory") return ":directories";
  const daemon = findDaemon(directory);
  if (!daemon) return [];
  const limit = AbortSignal.timeout(PATIENCE_MS);
  const client = createClient({
    url: daemon.url,
    token: daemon.token,
    fetch: (url, init) => fetch(url, { ...init, signal: limit }),
  });
  return named(client, place).catch(() => []);
}

async function named(client: Client, place: string): Promise<Candidate[]> {
  if (place === "task") {
    const { tasks } = await client.tasks({ limit: NEWEST });
    return tasks.map(({ id, status, description }) => [shortId(id), `${status}: ${oneLine(description)}`]);
  }
  const projects = await allProjects(client);
  if (place === "project") {
    return projects.map(
      ({ id, name }): Candidate => (isPlainWord(name) ? [name, "project"] : [shortId(id), oneLine(name)]),
    );
  }
  const items = (await Promise.all(projects.map(({ id }) => projectItems(client, id)))).flat();
  if (place === "item") return items.map(({ id, title, status }) => [shortId(id), `${status}: ${oneLine(title)}`]);
  return items.flatMap(({ latest_attempt_id: id, title }): Candidate[] =>
    id === null ? [] : [[shortId(id), oneLine(title)]],
  );
}

/**
 * A shell inserts a candidate unquoted, so a candidate that the shell would read as more than one word is not
 * offered.
 */
function isPlainWord(name: string): boolean {
  return /^[\p{L}\p{N}_.@%+=][\p{L}\p{N}_.@%+=-]*$/u.test(name);
}
