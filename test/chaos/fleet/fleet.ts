/**
 * A fleet on one PostgreSQL: runners, servers and parents as real processes on machines of their own (a machine is a
 * data folder), which work in one shared folder. Every process ends with the test.
 */
import { afterAll } from "bun:test";
import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Client, createClient } from "../../../src/client/client.ts";
import { findDaemon } from "../../../src/daemon/find-daemon.ts";
import { makeId } from "../../../src/process/make-id.ts";
import { postgresStore } from "../../../src/store/open.ts";
import type { Store } from "../../../src/store/store.ts";
import { attachLifeline } from "../../../src/testing/lifeline.ts";
import { MAIN } from "../../cli/cli-bed.ts";

const PARENT = join(import.meta.dir, "parent-process.ts");
/** Signs of life of the agents, and the word to go on. */
const FOLDERS = ["begun", "go", "done"] as const;

export interface FleetProcess {
  readonly pid: number;
  readonly machine: string;
  readonly exited: Promise<number>;
  /** The lines that it has printed so far. */
  readonly lines: readonly string[];
  kill(signal: NodeJS.Signals): void;
  /** Sends it a line. */
  tell(line: string): void;
  /** Resolves with the first line that contains the text; rejects if the process ends before. */
  said(text: string): Promise<string>;
}

export interface FleetServer extends FleetProcess {
  readonly url: string;
  readonly client: Client;
}

interface FleetOptions {
  connectionString: string;
  /** More variables for all processes. */
  environment?: Record<string, string>;
  host?: string;
}

export class Fleet {
  readonly folder = realpathSync(mkdtempSync(join(tmpdir(), "asyncagents-fleet-")));
  /** Where all agents work. */
  readonly work = join(this.folder, "work");
  readonly store: Store;
  readonly host: string;
  readonly #options: FleetOptions;
  readonly #running = new Set<FleetProcess>();

  private constructor(store: Store, options: FleetOptions) {
    this.store = store;
    this.host = options.host ?? "scripted";
    this.#options = options;
    for (const name of FOLDERS) mkdirSync(join(this.work, name), { recursive: true });
  }

  static async open(options: FleetOptions): Promise<Fleet> {
    const fleet = new Fleet(await postgresStore(options), options);
    afterAll(async () => {
      for (const each of fleet.#running) each.kill("SIGKILL");
      await Promise.all([...fleet.#running].map(({ exited }) => exited));
      await fleet.store.close();
      rmSync(fleet.folder, { recursive: true, force: true });
    }, 60_000);
    return fleet;
  }

  data(machine: string): string {
    return join(this.folder, machine, "data");
  }

  home(machine: string): string {
    return join(this.folder, machine, "home");
  }

  /** What an agent is told: to show that it begins, to wait for the word unless it is quick, to show that it ends. */
  prompt(name: string, isQuick = false): string {
    const wait = isQuick ? [] : [`!wait go/${name}`];
    return [name, `!write begun/${name} x`, ...wait, `!write done/${name} x`, `!say done ${name}`].join("\n");
  }

  /** Stores a task for any runner, whatever its machine. */
  async enqueue(name: string, prompt: string, retries: number): Promise<string> {
    const { store, host, work } = this;
    const id = makeId("tsk");
    const needs = { host, model: null, labels: [], machine: null, remote: null };
    await store.queue.open(needs);
    const task = {
      id,
      sessionId: "",
      host,
      directory: work,
      parentSessionId: "",
      parentMessageId: "",
      parentAgent: "",
      description: name,
      prompt,
      messageId: "",
      agent: "",
      model: null,
      batchId: "",
      isForked: false,
      owner: null,
      machine: "",
    };
    await store.write(async (transaction) => {
      await transaction.enqueue({ ...needs, taskId: id, priority: 0, retries, source: null, bound: null, limits: {} });
      return transaction.apply(id, { type: "task.created", at: Date.now(), task });
    });
    return id;
  }

  /** Agents that have begun, ended, or got the word, by the names of their tasks. */
  signs(folder: (typeof FOLDERS)[number]): Set<string> {
    return new Set(readdirSync(join(this.work, folder)));
  }

  letGo(name: string): void {
    writeFileSync(join(this.work, "go", name), "");
  }

  /** Resolves when the runner claims. */
  async runner(machine: string, max = 8): Promise<FleetProcess> {
    const words = ["runner", "--hosts", this.host, "--max", String(max)];
    const runner = this.#start(machine, [MAIN, ...words]);
    await runner.said("Ctrl-C ends it");
    return runner;
  }

  async server(machine: string): Promise<FleetServer> {
    const server = this.#start(machine, [MAIN, "up", "--foreground", "--json"]);
    const { url } = JSON.parse(await server.said("{"));
    const token = findDaemon(this.data(machine))?.token ?? "";
    return Object.assign(server, { url, client: createClient({ url, token }) });
  }

  /** A program with a parent session, which launches tasks on its own host; see `parent-process.ts`. */
  async parent(machine: string): Promise<FleetProcess> {
    const parent = this.#start(machine, [PARENT, this.#options.connectionString, this.data(machine), this.work]);
    await parent.said("ready");
    return parent;
  }

  #start(machine: string, words: readonly string[]): FleetProcess {
    mkdirSync(this.home(machine), { recursive: true });
    const child = Bun.spawn([process.execPath, ...words], {
      cwd: this.work,
      env: {
        PATH: process.env.PATH ?? "",
        HOME: this.home(machine),
        ASYNCAGENTS_HOME: this.data(machine),
        ASYNCAGENTS_API_PORT: "0",
        ASYNCAGENTS_STORE: this.#options.connectionString,
        NO_COLOR: "1",
        ...this.#options.environment,
      },
      stdin: "pipe",
      stdout: "pipe",
      stderr: "inherit",
    });
    const release = attachLifeline(child.pid, join(this.folder, "none"));
    const { lines, said } = linesOf(child.stdout, `${words.join(" ")} on ${machine}`);
    const started: FleetProcess = {
      pid: child.pid,
      machine,
      lines,
      said,
      exited: child.exited.finally(release),
      kill: (signal) => child.kill(signal),
      tell: (line) => void child.stdin.write(`${line}\n`),
    };
    this.#running.add(started);
    void started.exited.then(() => this.#running.delete(started));
    return started;
  }
}

function linesOf(stream: ReadableStream<Uint8Array>, what: string): Pick<FleetProcess, "lines" | "said"> {
  const lines: string[] = [];
  const waiting = new Map<string, { resolve(line: string): void; reject(error: Error): void }>();
  void (async () => {
    let rest = "";
    const decoder = new TextDecoder();
    for await (const chunk of stream) {
      const parts = (rest + decoder.decode(chunk, { stream: true })).split("\n");
      rest = parts.pop() ?? "";
      for (const line of parts) {
        lines.push(line);
        for (const [text, { resolve }] of waiting) if (line.includes(text)) resolve(line);
      }
    }
    for (const [text, { reject }] of waiting) reject(new Error(`${what} ended without "${text}": ${lines.join("\n")}`));
  })();
  const said = (text: string) => {
    const known = lines.find((line) => line.includes(text));
    if (known !== undefined) return Promise.resolve(known);
    const { promise, ...waiter } = Promise.withResolvers<string>();
    promise.catch(() => {});
    waiting.set(text, waiter);
    return promise;
  };
  return { lines, said };
}
