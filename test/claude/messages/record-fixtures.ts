/**
 * Records the messages of the real Claude CLI in the relevant situations, as fixtures: `bun
 * test/claude/messages/record-fixtures.ts [name…]`. One message per line. Folders get neutral names, and the CLI's own
 * prose is cut; ids, order and numbers are unchanged.
 */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { SDKMessage } from "@anthropic-ai/claude-agent-sdk";
import { type ClaudeHome, claudeEnvironment } from "../../../src/testing/claude-home.ts";
import { type AnthropicModel, startAnthropicModel } from "../../../src/testing/models/anthropic-model.ts";
import {
  type Answer,
  call,
  calls,
  fail,
  gate,
  pause,
  type Script,
  say,
  scriptMarker,
} from "../../../src/testing/models/script.ts";
import { type ClaudeQuery, openQuery } from "../../testing/claude-query.ts";

interface Situation {
  scripts: Record<string, Script>;
  /** Plays the situation; returns the messages of each process, by suffix of the fixture's name. */
  play(bed: { model: AnthropicModel; home: ClaudeHome }): Promise<Record<string, SDKMessage[]>>;
}

const agentInput = (description: string, script: string, fields: object = {}) => ({
  description,
  prompt: `Do it. ${scriptMarker(script)}`,
  subagent_type: "general-purpose",
  run_in_background: true,
  ...fields,
});
const agent = (...input: Parameters<typeof agentInput>): Answer => call("Agent", agentInput(...input));
const look = call("Bash", { command: "cat notes.txt", description: "Show the notes" });

const isNews = (subtype: string) => (message: SDKMessage) => "subtype" in message && message.subtype === subtype;
const taskId = (message: SDKMessage) => (message as { task_id: string }).task_id;

/** Runs the script `main` in one process until that many results have arrived. */
function untilResults(count: number): Situation["play"] {
  return async ({ home }) => {
    const session = openQuery(home);
    session.send(`Begin. ${scriptMarker("main")}`);
    await session.results(count);
    await session.end();
    return { "": session.messages };
  };
}

const situations: Record<string, Situation> = {
  "background-completes": {
    scripts: {
      main: [agent("Look around", "child"), say("Launched."), say("Noted.")],
      child: [look, pause(300), say("The notes have three lines.")],
    },
    play: untilResults(2),
  },
  "background-fails": {
    scripts: {
      main: [agent("Fail", "child"), say("Launched."), say("Noted.")],
      child: [look, pause(300), fail(400, "the scripted model refuses")],
    },
    play: untilResults(2),
  },
  "background-stopped": {
    scripts: {
      main: [agent("Wait", "child"), say("Launched."), say("Noted.")],
      child: [look, gate("held"), say("unheard")],
    },
    async play({ model, home }) {
      const session = openQuery(home);
      session.send(`Begin. ${scriptMarker("main")}`);
      const started = await session.wait("a start", isNews("task_started"));
      await model.gate("held").reached;
      await session.results(1);
      await session.query.stopTask(taskId(started));
      await session.wait("a notification", isNews("task_notification"));
      await settled(session);
      await session.end();
      return { "": session.messages };
    },
  },
  "three-at-once": {
    scripts: {
      main: [
        calls(["one", "two", "three"].map((name) => ({ name: "Agent", input: agentInput(`Number ${name}`, name) }))),
        say("Launched three."),
        ...Array.from({ length: 3 }, () => say("Noted.")),
      ],
      one: [pause(900), say("First answer.")],
      two: [look, pause(300), say("Second answer.")],
      three: [pause(500), fail(400, "the scripted model refuses")],
    },
    async play({ home }) {
      const session = openQuery(home);
      session.send(`Begin. ${scriptMarker("main")}`);
      await session.wait(
        "no task left",
        (message) => isNews("background_tasks_changed")(message) && isEmptyLevel(message),
      );
      await settled(session);
      await session.end();
      return { "": session.messages };
    },
  },
  "foreground-agent": {
    scripts: {
      main: [agent("Look at once", "child", { run_in_background: false }), say("It is done.")],
      child: [look, say("The notes have three lines.")],
    },
    play: untilResults(1),
  },
  "background-shell": {
    scripts: {
      main: [
        call("Bash", {
          command: "sleep 0.5; echo from the shell",
          description: "Write later",
          run_in_background: true,
        }),
        say("Started."),
        say("Noted."),
      ],
    },
    play: untilResults(2),
  },
  "resumed-agent": {
    scripts: {
      main: [agent("Count", "child"), say("Launched."), say("Noted.")],
      again: [
        call("SendMessage", (request) => ({
          to: request.fromToolResults(/agentId: (\w+)/, "Agent"),
          summary: "Go on counting",
          message: `Go on. ${scriptMarker("further")}`,
        })),
        say("Asked again."),
        say("Noted again."),
      ],
      child: [pause(200), say("One.")],
      further: [pause(200), say("Two.")],
    },
    async play({ home }) {
      const session = openQuery(home);
      session.send(`Begin. ${scriptMarker("main")}`);
      await session.results(2);
      session.send(`Once more. ${scriptMarker("again")}`);
      await session.results(4);
      await session.end();
      return { "": session.messages };
    },
  },
  killed: {
    scripts: {
      main: [agent("Never end", "child"), say("Launched.")],
      child: [look, gate("never"), say("unheard")],
      after: [say("Back again.")],
    },
    async play({ model, home }) {
      const session = openQuery(home);
      session.send(`Begin. ${scriptMarker("main")}`);
      await session.results(1);
      await model.gate("never").reached;
      await session.kill();
      const resumed = openQuery(home, { resume: session.sessionId() });
      resumed.send(`Are you there? ${scriptMarker("after")}`);
      await resumed.wait(
        "the answer",
        (message) => message.type === "result" && JSON.stringify(message).includes("Back again."),
      );
      await resumed.end();
      return { "-mid-task": session.messages, "-then-resumed": resumed.messages };
    },
  },
};

function isEmptyLevel(message: SDKMessage): boolean {
  return "tasks" in message && Array.isArray(message.tasks) && message.tasks.length === 0;
}

/** Waits until nothing has arrived for a second: how many turns notifications cause depends on their timing. */
async function settled(session: ClaudeQuery): Promise<void> {
  for (let seen = -1; seen !== session.messages.length; ) {
    seen = session.messages.length;
    await Bun.sleep(1000);
  }
}

/** The fields that a reader needs of the CLI's inventory; the rest is long and changes with every version. */
const kept = new Set([
  "type",
  "subtype",
  "uuid",
  "session_id",
  "cwd",
  "model",
  "permissionMode",
  "claude_code_version",
]);

function neutral(message: SDKMessage, home: ClaudeHome): string {
  const flat = (path: string) => path.replaceAll(/[^A-Za-z0-9]/g, "-");
  const short = (key: string, value: unknown) =>
    typeof value === "string" && value.length > 100 && !/file|path|cwd|summary|error/i.test(key)
      ? cutProse(value)
      : value;
  const fields = isNews("init")(message)
    ? Object.fromEntries(Object.entries(message).filter(([key]) => kept.has(key)))
    : message;
  return JSON.stringify(fields, short)
    .replaceAll(home.root, "/tmp/claude")
    .replaceAll(flat(home.root), flat("/tmp/claude"));
}

/** Keeps the texts that the library may look for. */
function cutProse(text: string): string {
  const ids = text.match(/(agentId|task_id|ID|output_file): ?\S+|<task-id>[^<]*<\/task-id>/g) ?? [];
  return [`${text.slice(0, 40)}…`, ...ids].join(" ");
}

const folder = join(import.meta.dir, "fixtures");
const wanted = process.argv.slice(2);
await mkdir(folder, { recursive: true });
for (const [name, { scripts, play }] of Object.entries(situations)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  const model = startAnthropicModel({ scripts });
  const home = await claudeEnvironment({ model });
  const recorded = await play({ model, home });
  for (const [ending, messages] of Object.entries(recorded)) {
    const lines = messages.map((message) => `${neutral(message, home)}\n`);
    await writeFile(join(folder, `${name}${ending}.jsonl`), lines.join(""));
  }
  await model.stop();
  await home.remove();
}
