/**
 * An MCP client of the newest protocol with the tasks extension, written for the tests: it sends plain JSON-RPC to a
 * server on its streams or over HTTP, and offers the extension only where a call asks for it.
 */
import type { DaemonBed } from "../daemon-bed.ts";
import { COMMAND, mcpArguments } from "../daemon-bed.ts";

export const TASKS = "io.modelcontextprotocol/tasks";
const META = "io.modelcontextprotocol";

export interface WireTask {
  resultType: string;
  taskId: string;
  status: "working" | "completed" | "failed" | "cancelled";
  statusMessage?: string;
  pollIntervalMs: number;
  result?: { structuredContent: Record<string, unknown>; content: { text: string }[] };
  error?: { code: number; message: string };
}

interface Answer {
  id: number;
  result?: never;
  error?: { code: number; message: string };
}

type Send = (message: object & { id: number }) => Promise<Answer>;

export class TaskClient {
  readonly #send: Send;
  readonly close: () => Promise<void>;
  #next = 1;

  private constructor(send: Send, close: () => Promise<void>) {
    this.#send = send;
    this.close = close;
  }

  static stdio(bed: DaemonBed, environment: Record<string, string> = {}): TaskClient {
    const child = Bun.spawn([COMMAND, ...mcpArguments()], {
      cwd: bed.root,
      env: { ...bed.environment, ...environment },
      stdio: ["pipe", "pipe", "ignore"],
    });
    const waiting = new Map<number, (answer: Answer) => void>();
    const reading = (async () => {
      let text = "";
      for await (const chunk of child.stdout.pipeThrough(new TextDecoderStream())) {
        text += chunk;
        const lines = text.split("\n");
        text = lines.pop() ?? "";
        for (const line of lines) {
          const answer = JSON.parse(line) as Answer;
          waiting.get(answer.id)?.(answer);
        }
      }
    })();
    const send: Send = (message) => {
      const { promise, resolve } = Promise.withResolvers<Answer>();
      waiting.set(message.id, resolve);
      child.stdin.write(`${JSON.stringify(message)}\n`);
      child.stdin.flush();
      return promise;
    };
    return new TaskClient(send, async () => {
      child.kill();
      await Promise.all([child.exited, reading]);
    });
  }

  static http(bed: DaemonBed): TaskClient {
    const send: Send = async (message) => {
      const { method, params } = message as unknown as { method: string; params: { name?: string; taskId?: string } };
      const headers = {
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": method,
        "mcp-name": params.name ?? params.taskId ?? "",
        "x-asyncagents-depth": "0",
      };
      const response = await fetch(`${bed.url}/mcp`, { method: "POST", headers, body: JSON.stringify(message) });
      const text = await response.text();
      return JSON.parse(/^data: (.*)$/m.exec(text)?.[1] ?? text);
    };
    return new TaskClient(send, async () => {});
  }

  /** The result; throws the protocol's error. */
  async request<Result>(method: string, params: object, offers = true, meta: object = {}): Promise<Result> {
    const _meta = {
      ...meta,
      [`${META}/protocolVersion`]: "2026-07-28",
      [`${META}/clientInfo`]: { name: "own", version: "1" },
      [`${META}/clientCapabilities`]: offers ? { extensions: { [TASKS]: {} } } : {},
    };
    const id = this.#next++;
    const { result, error } = await this.#send({ jsonrpc: "2.0", id, method, params: { ...params, _meta } } as never);
    if (error) throw Object.assign(new Error(error.message), error);
    return result as Result;
  }

  call<Result = WireTask>(name: string, input: object, offers = true, meta: object = {}): Promise<Result> {
    return this.request<Result>("tools/call", { name, arguments: input }, offers, meta);
  }

  get(taskId: string): Promise<WireTask> {
    return this.request("tasks/get", { taskId });
  }

  cancel(taskId: string): Promise<object> {
    return this.request("tasks/cancel", { taskId });
  }

  /** Asks until the task has ended, as clients do. */
  async ended(taskId: string): Promise<WireTask> {
    for (;;) {
      const task = await this.get(taskId);
      if (task.status !== "working") return task;
      await Bun.sleep(50);
    }
  }
}
