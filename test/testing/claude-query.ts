/**
 * One session of the real Claude CLI for a test: records its messages, offers waits, and ends its process group.
 */
import { spawn } from "node:child_process";
import { type Options, type Query, query, type SDKMessage, type SDKUserMessage } from "@anthropic-ai/claude-agent-sdk";
import type { ClaudeHome } from "../../src/testing/claude-home.ts";
import { Recorder } from "../../src/testing/recorder.ts";

export interface ClaudeQuery {
  query: Query;
  messages: SDKMessage[];
  sessionId(): string;
  send(text: string): void;
  /** The first matching message, past or future. */
  wait(what: string, fits: (message: SDKMessage) => boolean, from?: number): Promise<SDKMessage>;
  /** Waits for that many results. */
  results(count: number): Promise<SDKMessage[]>;
  /** Ends the input, and waits until the CLI has exited. */
  end(): Promise<void>;
  /** Kills the CLI and its child processes at once. */
  kill(): Promise<void>;
}

export function openQuery(home: ClaudeHome, options: Options = {}): ClaudeQuery {
  const record = new Recorder<SDKMessage>((message) => JSON.stringify(message).slice(0, 200));
  const { readable, writable } = new TransformStream<SDKUserMessage, SDKUserMessage>();
  const input = writable.getWriter();
  let group: number | undefined;
  const asked = query({
    prompt: readable,
    options: {
      cwd: home.directory,
      env: home.environment,
      permissionMode: "bypassPermissions",
      allowDangerouslySkipPermissions: true,
      ...options,
      spawnClaudeCodeProcess({ command, args, cwd, env }) {
        const child = spawn(command, args, { cwd, env, detached: true, stdio: ["pipe", "pipe", "ignore"] });
        group = child.pid;
        return child;
      },
    },
  });
  const read = async () => {
    for await (const message of asked) record.push(message);
  };
  // A killed CLI ends the stream with an error; only the messages before it matter.
  const over = read().catch(() => {});
  const wait: ClaudeQuery["wait"] = (what, fits, from = 0) => record.waitFor(fits, { what, from });
  return {
    query: asked,
    messages: record.items,
    sessionId: () => record.items.find((message) => message.session_id)?.session_id ?? "",
    send: (text) =>
      void input.write({ type: "user", message: { role: "user", content: text }, parent_tool_use_id: null }),
    wait,
    results: (count) => record.waitForCount((message) => message.type === "result", count, { what: "results" }),
    async end() {
      void input.close();
      await over;
      if (group !== undefined) endGroup(group);
    },
    async kill() {
      if (group !== undefined) endGroup(group);
      await over;
    },
  };
}

function endGroup(group: number): void {
  try {
    process.kill(-group, "SIGKILL");
  } catch {
    // The process is already gone.
  }
}
