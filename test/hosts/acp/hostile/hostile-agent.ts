/**
 * An ACP agent that misbehaves on request, for the tests of the host. It speaks the protocol by hand, so that it can
 * also break it. A prompt names what to do, one step per line; without `silent`, the turn ends with `end_turn`. The
 * options are its arguments: `load`, `resume` (which continuations it announces), `lost` and `vague` (it resumes
 * sessions that it does not know, and refuses their prompts), `kill:METHOD` (kills its host when that call arrives, or
 * when its input `end`s).
 */
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

type Fields = Record<string, unknown>;

const options = new Set(process.argv.slice(2));
const history: string[] = [];
const answers = new Map<number, (answer: Fields) => void>();
let calls = 0;
let session = `session-${process.pid}`;

function send(message: Fields): void {
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
}

function ask(method: string, params: Fields): Promise<Fields> {
  const id = ++calls;
  send({ id, method, params });
  return new Promise((resolve) => answers.set(id, resolve));
}

function update(fields: Fields, sessionId = session): void {
  send({ method: "session/update", params: { sessionId, update: fields } });
}

function say(text: string, more: Fields = {}, sessionId = session): void {
  update({ sessionUpdate: "agent_message_chunk", content: { type: "text", text }, ...more }, sessionId);
}

function replay(): void {
  for (const [index, text] of history.entries()) {
    update({ sessionUpdate: "user_message_chunk", content: { type: "text", text: "asked before" } });
    update({ sessionUpdate: "tool_call", toolCallId: `call-${index}`, title: "work", status: "completed" });
    say(text, { messageId: `message-${index}` });
  }
}

/** What a line of a prompt makes it do; the result is the stop reason, if the turn ends there. */
/** Asks that often, and reads no answer from then on. */
async function askUnheard(count: number): Promise<void> {
  process.stdin.pause();
  for (let sent = 0; sent < count; sent++) {
    send({ id: `${sent}${"i".repeat(20_000)}`, method: "no/such" });
    if (process.stdout.writableNeedDrain) await new Promise((resolve) => process.stdout.once("drain", resolve));
  }
}

const steps: Record<string, (rest: string) => unknown> = {
  say: (text) => say(text),
  /** Work under ids that a later replay repeats. */
  work(text) {
    const index = Number(text);
    update({ sessionUpdate: "tool_call", toolCallId: `call-${index}`, title: "work", status: "completed" });
    say(`did ${index}`, { messageId: `message-${index}` });
  },
  /** The history of an earlier run, as if it happened now. */
  again(count) {
    for (let index = 0; index < Number(count); index++) history.push(`did ${index}`);
    replay();
  },
  foreign: (text) => say(text, {}, "session-of-another"),
  async foreignask() {
    const permission = { toolCall: { toolCallId: "foreign", title: "foreign" }, options: [] };
    const answer = await ask("session/request_permission", { sessionId: "session-of-another", ...permission });
    say(`answered ${JSON.stringify(answer.result ?? answer.error)}`);
  },
  async asks(count) {
    const permission = { title: "z".repeat(30_000), kind: "execute" };
    const options = [{ optionId: "yes", kind: "allow_once", name: "Yes" }];
    const asked = Array.from({ length: Number(count) }, (_, index) =>
      ask("session/request_permission", {
        sessionId: session,
        toolCall: { toolCallId: `asked-${index}`, ...permission },
        options,
      }),
    );
    const answered = await Promise.all(asked);
    const isAllowed = ({ result }: Fields) => JSON.stringify(result).includes("selected");
    say(`${answered.filter(isAllowed).length} allowed`);
  },
  async askslong(length) {
    const rawInput = { command: ["sh", "-c", `${"true; ".repeat(Number(length) / 6)}touch last`] };
    const options = [{ optionId: "yes", kind: "allow_once", name: "Yes" }];
    const toolCall = { toolCallId: `long-${length}`, title: "Tidy up", kind: "execute", rawInput };
    const { result } = await ask("session/request_permission", { sessionId: session, toolCall, options });
    say(JSON.stringify(result));
  },
  async asksfor(given) {
    const options = [{ optionId: "yes", kind: "allow_once", name: "Yes" }];
    const toolCall = { toolCallId: `for-${given.length}`, title: "Run the tests", ...JSON.parse(given) };
    const { result } = await ask("session/request_permission", { sessionId: session, toolCall, options });
    say(JSON.stringify(result));
  },
  /** Asks for a permission, reads no answer, and goes on; so many answers wait by then. */
  async deafask(count) {
    await askUnheard(Number(count));
    const options = [{ optionId: "yes", kind: "allow_once", name: "Yes" }];
    const toolCall = { toolCallId: "deafask", title: "deaf", kind: "execute", rawInput: { command: "x" } };
    void ask("session/request_permission", { sessionId: session, toolCall, options });
    await new Promise(() => setInterval(() => say("still at work\n"), 200));
  },
  refuse(megabytes) {
    throw { code: -32603, message: "w".repeat(Number(megabytes) * 1024 * 1024) };
  },
  stop: (reason) => reason,
  async read(path) {
    const read = await ask("fs/read_text_file", { sessionId: session, path });
    const written = await ask("fs/write_text_file", { sessionId: session, path, content: "x" });
    const run = await ask("terminal/create", { sessionId: session, command: "id" });
    const codes = [read, written, run].map(({ error }) => (error as Fields | undefined)?.code ?? "done");
    say(codes.join(" "));
  },
  noise() {
    process.stdout.write('not json\n{"jsonrpc": "2.0", "id": 77, "result"\n[]\nnull\n{"method": 7}\n\u0000\n');
    send({ method: "session/update", params: null });
    send({ method: "session/update", params: { sessionId: session, update: { sessionUpdate: 7 } } });
    update({ sessionUpdate: "agent_message_chunk", content: null });
    update({ sessionUpdate: "tool_call", toolCallId: 7, title: [], rawInput: null, content: "no list" });
    send({ id: 999, result: { stopReason: "end_turn" } });
  },
  async flood(megabytes) {
    const piece = "x".repeat(16 * 1024 - 1);
    for (let sent = 0; sent < Number(megabytes) * 64; sent++) {
      say(`${piece}\n`);
      if (process.stdout.writableNeedDrain) await new Promise((resolve) => process.stdout.once("drain", resolve));
    }
  },
  /** Below a depth at which nothing is kept any more. */
  deep(megabytes) {
    let rawInput: unknown = "d".repeat(Number(megabytes) * 1024 * 1024);
    for (let depth = 0; depth < 30; depth++) rawInput = { deep: rawInput };
    update({ sessionUpdate: "tool_call", toolCallId: "deep", title: "work", status: "completed", rawInput });
  },
  deaf: () => askUnheard(8_000),
  huge: (megabytes) => say("y".repeat(Number(megabytes) * 1024 * 1024)),
  /** Programs in sessions of their own, the last one with its parent gone. */
  children(count) {
    for (let index = 0; index < Number(count); index++) start("setsid sleep 631 & sleep 631");
    start("(setsid sleep 631 &)");
  },
  unmarked: (seconds) => start(`exec sleep ${Number(seconds)}`, { PATH: process.env.PATH }),
  freeze: () => process.kill(process.pid, "SIGSTOP"),
  silent: () => new Promise(() => {}),
  /** Time for the host to write down what it was sent. */
  heard: () => Bun.sleep(300),
  die: () => process.kill(process.pid, "SIGKILL"),
  killhost: () => killHost(),
};

function start(command: string, environment = process.env): void {
  spawn("sh", ["-c", command], { detached: true, stdio: "ignore", env: environment });
}

async function killHost(): Promise<never> {
  process.kill(process.ppid, "SIGKILL");
  return new Promise(() => {});
}

async function turn(prompt: string): Promise<string> {
  for (const line of prompt.split("\n")) {
    const [name = "", ...rest] = line.split(" ");
    const reason = await steps[name]?.(rest.join(" "));
    if (typeof reason === "string") return reason;
  }
  return "end_turn";
}

async function handle(method: string, params: Fields): Promise<Fields> {
  if (options.has(`kill:${method}`)) await killHost();
  switch (method) {
    case "initialize":
      return {
        protocolVersion: 1,
        agentCapabilities: {
          loadSession: options.has("load"),
          sessionCapabilities: options.has("resume") ? { resume: {} } : {},
        },
      };
    case "session/new":
      session = `session-${process.pid}`;
      return { sessionId: session };
    case "session/load":
    case "session/resume":
      session = String(params.sessionId);
      if (method === "session/load") replay();
      return {};
    case "session/prompt": {
      if (params.sessionId !== `session-${process.pid}`) {
        if (options.has("lost")) throw { code: -32002, message: "Session not found" };
        if (options.has("vague")) throw { code: -32603, message: "The conversation was not found" };
      }
      session = String(params.sessionId);
      const [{ text }] = params.prompt as [{ text: string }];
      return { stopReason: await turn(text) };
    }
    default:
      throw { code: -32601, message: `no ${method}` };
  }
}

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params, ...answer } = JSON.parse(line) as Fields & { id: number };
  if (typeof method !== "string") answers.get(id)?.(answer);
  else if (id !== undefined) {
    handle(method, (params ?? {}) as Fields).then(
      (result) => send({ id, result }),
      (error) => send({ id, error }),
    );
  }
});
process.stdin.once("end", () => {
  if (options.has("kill:end")) process.kill(process.ppid, "SIGKILL");
  process.exit(0);
});
