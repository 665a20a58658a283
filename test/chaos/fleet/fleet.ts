/**
 * A fleet on one PostgreSQL: runners and servers as real processes, each with a data folder of its own, as if on
 * machines of their own, and this process as one more machine, with a parent that launches tasks. Every process ends
 * with the test.
 */
import { afterAll } from "bun:test";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createEngine } from "../../../src/engine/create-engine.ts";
import type { Engine } from "../../../src/engine/engine.ts";
import { markerOf, pause, say } from "../../../src/hosts/scripted/script.ts";
import { scriptedHost } from "../../../src/hosts/scripted/scripted-host.ts";
import { makeId } from "../../../src/process/make-id.ts";
import { postgresStore } from "../../../src/store/open.ts";
import type { Store } from "../../../src/store/store.ts";
import { attachLifeline } from "../../../src/testing/lifeline.ts";
import { MAIN } from "../../cli/cli-bed.ts";

export interface FleetProcess {
  readonly pid: number;
  kill(signal: NodeJS.Signals): void;
  exited: Promise<number>;
}

export class Fleet {
  readonly folder = realpathSync(mkdtempSync(join(tmpdir(), "asyncagents-fleet-")));
  /** Where all agents work: a folder that all machines share. */
  readonly work = join(this.folder, "work");
  readonly store: Store;
  readonly parent: string;
  readonly #connectionString: string;
  readonly #host = scriptedHost();
  readonly #engine: Engine;
  readonly #running = new Set<FleetProcess>();

  private constructor(store: Store, connectionString: string) {
    this.store = store;
    this.#connectionString = connectionString;
    this.parent = this.#host.openSession("parent");
    this.#engine = createEngine({ store, host: this.#host, machine: makeId("mac"), directory: this.folder });
    for (const name of ["begun", "go"]) mkdirSync(join(this.work, name), { recursive: true });
  }

  static async open(connectionString: string): Promise<Fleet> {
    const store = await postgresStore({ connectionString });
    const fleet = new Fleet(store, connectionString);
    await fleet.#engine.start();
    afterAll(async () => {
      for (const each of fleet.#running) each.kill("SIGKILL");
      await Promise.all([...fleet.#running].map(({ exited }) => exited));
      await fleet.#engine.stop();
      await store.close();
      rmSync(fleet.folder, { recursive: true, force: true });
    }, 60_000);
    return fleet;
  }

  /** The parent launches a task on this machine. */
  async launch(name: string, ms: number): Promise<string> {
    this.#host.script(name, [pause(ms), say(`done ${name}`)]);
    const caller = { sessionId: this.parent, messageId: "msg_parent", agent: "general", model: null, variant: null };
    const prompt = `${name}\n${markerOf(name)}`;
    const request = { description: name, prompt, agent: "general", fork: false, batch: null };
    return (await this.#engine.launch(caller, request, await this.#engine.checkLaunch(caller, request))).id;
  }

  /** Stores a task for any runner, whatever its machine. */
  async enqueue(name: string, retries: number): Promise<string> {
    const { store } = this;
    const id = makeId("tsk");
    const needs = { host: "scripted", model: null, labels: [], machine: null };
    await store.queue.open(needs);
    const task = {
      id,
      sessionId: "",
      host: "scripted",
      directory: this.work,
      parentSessionId: "",
      parentMessageId: "",
      parentAgent: "",
      description: name,
      prompt: `${name}\n!write begun/${name} x\n!wait go/${name}\n!say done ${name}`,
      messageId: "",
      agent: "",
      model: null,
      batchId: "",
      isForked: false,
      owner: null,
      machine: "",
    };
    await store.write(async (transaction) => {
      await transaction.enqueue({ ...needs, taskId: id, priority: 0, retries, source: null, limits: {} });
      return transaction.apply(id, { type: "task.created", at: Date.now(), task });
    });
    return id;
  }

  /** Agents that have begun and wait for the word to go on. */
  waiting(): string[] {
    const told = new Set(readdirSync(join(this.work, "go")));
    return readdirSync(join(this.work, "begun")).filter((name) => !told.has(name));
  }

  letGo(name: string): void {
    writeFileSync(join(this.work, "go", name), "");
  }

  /** Starts a runner on that machine and resolves when it claims. */
  runner(machine: string): Promise<FleetProcess> {
    return this.#start(machine, ["runner", "--hosts", "scripted", "--max", "8"], "Ctrl-C ends it");
  }

  async server(machine: string): Promise<void> {
    await this.#start(machine, ["daemon"], null);
  }

  /** What the parent was told, line by line. */
  told(): string[] {
    return this.#host.sessions
      .get(this.parent)
      .messages.flatMap((message) => (message.role === "user" ? message.text.split("\n") : []));
  }

  /** How many sessions of that machine have a prompt for that task. */
  prompts(machine: string): Map<string, number> {
    const folder = join(this.folder, machine, "data", "scripted");
    const counts = new Map<string, number>();
    for (const file of readdirSync(folder).filter((name) => name.endsWith(".json"))) {
      const { messages } = JSON.parse(readFileSync(join(folder, file), "utf8")) as {
        messages: { role: string; text: string }[];
      };
      for (const { role, text } of messages) {
        const [name = ""] = text.split("\n");
        if (role === "user") counts.set(name, (counts.get(name) ?? 0) + 1);
      }
    }
    return counts;
  }

  async #start(machine: string, words: readonly string[], said: string | null): Promise<FleetProcess> {
    const [home, data] = [join(this.folder, machine, "home"), join(this.folder, machine, "data")];
    mkdirSync(home, { recursive: true });
    const child = Bun.spawn([process.execPath, MAIN, ...words], {
      cwd: this.work,
      env: {
        PATH: process.env.PATH ?? "",
        HOME: home,
        ASYNCAGENTS_HOME: data,
        ASYNCAGENTS_API_PORT: "0",
        ASYNCAGENTS_STORE: this.#connectionString,
        NO_COLOR: "1",
      },
      stdin: "ignore",
      stdout: "pipe",
      stderr: "inherit",
    });
    const release = attachLifeline(child.pid, join(this.folder, "none"));
    const exited = child.exited.finally(release);
    const started: FleetProcess = { pid: child.pid, kill: (signal) => child.kill(signal), exited };
    this.#running.add(started);
    void exited.then(() => this.#running.delete(started));
    const ready = Promise.withResolvers<void>();
    let text = "";
    void (async () => {
      for await (const chunk of child.stdout) {
        text += new TextDecoder().decode(chunk);
        if (said !== null && text.includes(said)) ready.resolve();
      }
      ready.reject(new Error(`${words.join(" ")} ended: ${text}`));
    })();
    if (said === null) ready.resolve();
    ready.promise.catch(() => {});
    await ready.promise;
    return started;
  }
}
