/**
 * A host of your own: its agents are shell commands. Runs one of them as a background task and prints what came of it.
 * Run it: bun examples/own-host.ts "ls | wc -l"
 */
import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  AsyncAgentsError,
  createEngine,
  type Evidence,
  type Host,
  type HostEvent,
  noEvidence,
  PERSON,
  sqliteStore,
} from "asyncagents";

interface Session {
  /** What each run has shown so far, by the id of its prompt. */
  runs: Map<string, Evidence>;
  child: ChildProcess | null;
}

export function shellHost(cwd: string): Host {
  const sessions = new Map<string, Session>();
  const listeners = new Set<(event: HostEvent) => void>();
  const shell = { name: "sh", description: "runs its prompt as a command", model: null };
  const sessionOf = (id: string): Session => {
    const session = sessions.get(id);
    if (!session) throw new AsyncAgentsError("session_gone", `There is no session ${id}.`);
    return session;
  };
  return {
    kind: "shell",
    defaultAgent: shell.name,
    async start() {
      const id = randomUUID();
      sessions.set(id, { runs: new Map(), child: null });
      return id;
    },
    async prompt(sessionId, { messageId, text }) {
      const session = sessionOf(sessionId);
      const run: Evidence = { ...noEvidence(true), begun: true };
      session.runs.set(messageId, run);
      const child = spawn("sh", ["-c", text], { cwd, stdio: ["ignore", "pipe", "pipe"] });
      session.child = child;
      const written: string[] = [];
      for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => written.push(String(chunk)));
      child.on("close", (code, signal) => {
        session.child = null;
        run.worked = true;
        const output = written.join("").trim();
        if (code === 0) run.answer = { text: output };
        else run.error = { message: `${signal ?? `exit code ${code}`}: ${output}`, aborted: signal !== null };
        for (const listener of listeners) listener({ type: "session.idle", sessionId });
      });
    },
    async abort(sessionId) {
      sessions.get(sessionId)?.child?.kill();
    },
    inspect: async (sessionId, messageId) => sessionOf(sessionId).runs.get(messageId) ?? noEvidence(false),
    statuses: async () => new Map([...sessions].flatMap(([id, { child }]) => (child ? [[id, { state: "busy" }]] : []))),
    messages: async () => ({ messages: [], before: null }),
    exists: async (sessionId) => sessions.has(sessionId),
    agent: async (name) => (name === shell.name ? shell : null),
    agents: async () => [shell],
    onEvent(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    newMessageId: () => randomUUID(),
  };
}

const [command = "echo hello from a shell"] = process.argv.slice(2);
const directory = mkdtempSync(join(tmpdir(), "asyncagents-own-host-"));
const store = await sqliteStore({ directory });
const engine = createEngine({ store, host: shellHost(process.cwd()) });
await engine.start();
const request = { description: command, prompt: command, agent: "sh", fork: false, batch: null };
const task = await engine.launch(PERSON, request, await engine.checkLaunch(PERSON, request));
const ended = await engine.untilTold(task, AbortSignal.timeout(60_000));
console.log(`${ended.status}: ${ended.run.result ?? ended.run.error}`);
await engine.stop();
await store.close();
rmSync(directory, { recursive: true });
