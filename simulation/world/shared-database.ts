/**
 * The database that all processes share: a real SQLite in memory, with a driver for each process. Every query takes a
 * moment, in which others run; a transaction is one step, as the lock of SQLite makes it, and a process does one at a
 * time. Faults strike before a transaction, in it, or after its commit.
 */
import type { Database as Sqlite } from "bun:sqlite";
import type { Kysely } from "kysely";
import type { TaskEvent } from "../../src/model/events.ts";
import { SerialQueue } from "../../src/process/serial-queue.ts";
import type { Database } from "../../src/store/database.ts";
import { kyselyStore } from "../../src/store/kysely-store.ts";
import { migrate } from "../../src/store/migrations/migrations.ts";
import type { Schema } from "../../src/store/schema.ts";
import { sqliteConnection } from "../../src/store/sqlite/connection.ts";
import { storeFailure } from "../../src/store/sqlite/failure.ts";
import type { Store } from "../../src/store/store.ts";
import type { Random } from "../time/random.ts";
import type { Faults } from "./faults.ts";
import { ReadMemory } from "./read-memory.ts";
import type { SimulatedProcess } from "./simulated-process.ts";

const FILE = "/simulation/asyncagents.db";
const LATENCY_MS = 4;
const SLOW_MS = 20_000;
/** How soon a process sees what another one wrote. */
const SIGNAL_MS = 150;
/** For how long a process waits for the lock, as the real driver does. */
const PATIENCE_MS = 15_000;
/** For how long a process waits for a server on another machine. */
const TIMEOUT_MS = 20_000;
/** The same for a registration or a heartbeat, which does not wait behind other writes there. */
const URGENT_TIMEOUT_MS = 5_000;

const BEGINS: ReadonlySet<string> = new Set(["task.created", "task.resumed"]);
const ENDS: ReadonlySet<string> = new Set(["run.completed", "run.failed", "run.cancelled"]);

export interface QueuedRunRow {
  task_id: string;
  state: "waiting" | "claimed" | "begun";
  claimed_by: string | null;
  fence: number;
  retries: number;
}

type Heed = (taskId: string, event: TaskEvent, by: SimulatedProcess) => void;

interface Listener {
  process: SimulatedProcess;
  call(): void;
  /** It will be called: one call stands for all changes until then. */
  isRaised: boolean;
  /** It hears nothing before. */
  cutUntil(): number;
}

export class SharedDatabase {
  readonly #connection = sqliteConnection(":memory:", "write");
  readonly #memory = new ReadMemory(this.#connection.handle);
  readonly #changes = this.#connection.handle.query<{ value: number }, []>("select total_changes() as value");
  #listeners = new Set<Listener>();
  /** Who is in a transaction, if it takes longer than a moment. */
  #holder: SimulatedProcess | null = null;
  #clearing: string[] = [];
  #lastSeq = 0;
  /** Nothing can be written before that time, of a process's `elapsed`. */
  fullUntil = 0;
  /** The database's own clock, in ms: nobody sets it. */
  now: () => number = () => 0;
  /** Called when the beginning of a run was committed. */
  onBegin: (taskId: string) => void = () => {};
  /** Called when the end of a run was committed. */
  onEnd: (taskId: string, run: number, by: SimulatedProcess) => void = () => {};
  /** Called when somebody wrote about a live run that an instance of another process owned. */
  onTakeover: (taskId: string, owner: string, by: SimulatedProcess) => void = () => {};
  /** Called for each event about a task that was committed. */
  #heeds: Heed[] = [];
  /** The owners of the live runs. */
  readonly #owners = new Map<string, string | null>();

  static async open(): Promise<SharedDatabase> {
    const shared = new SharedDatabase();
    await migrate(shared.#direct());
    const { handle } = shared.#connection;
    shared.#clearing = clearingOf(handle);
    shared.#memory.start(tablesOf(handle).map(({ name }) => name));
    return shared;
  }

  /** A store that sees everything at once, without faults: for the checks. */
  truth(): Store {
    return kyselyStore(this.#direct());
  }

  #direct(): Database {
    const { kysely } = this.#connection;
    return {
      dialect: "sqlite",
      now: () => this.now(),
      read: (work) => work(kysely),
      write: (work) => work(kysely),
      onChange: () => () => {},
      hurry() {},
      close: async () => {},
    };
  }

  /** Forgets everything: the next seed begins. */
  clear(): void {
    const { handle } = this.#connection;
    if (handle.inTransaction) handle.run("rollback");
    for (const statement of this.#clearing) handle.run(statement);
    this.#memory.clear();
    this.#listeners = new Set();
    this.#holder = null;
    this.#lastSeq = 0;
    this.#owners.clear();
    this.#heeds = [];
    this.fullUntil = 0;
  }

  isRegistered(instance: string): boolean {
    return this.#connection.handle.query("select 1 from instances where id = ?").get(instance) !== null;
  }

  /** The task of that prompt; null if its run has ended, or has another prompt by now. */
  liveRunOf(messageId: string): { id: string; owner: string | null; phase: string | null } | null {
    const query = `select id, owner, phase from tasks join runs on runs.task_id = tasks.id and runs.number = tasks.run
      where runs.message_id = ? and tasks.live = 1`;
    return this.#connection.handle
      .query<{ id: string; owner: string | null; phase: string | null }, [string]>(query)
      .get(messageId);
  }

  /** Calls back for each event about a task that is committed, until the next seed. */
  onEntry(heed: Heed): void {
    this.#heeds.push(heed);
  }

  /** Whether that instance is registered for that host, and its lease is not over. */
  hasLease(instance: string, host: string): boolean {
    const query = "select 1 from instances where id = ? and host = ? and lease_until > ?";
    return this.#connection.handle.query(query).get(instance, host, this.now()) !== null;
  }

  /** The places in the queue of runs, as they are stored. */
  queuedRuns(): QueuedRunRow[] {
    const query = "select task_id, state, claimed_by, fence, retries from queued_runs";
    return this.#connection.handle.query<QueuedRunRow, []>(query).all();
  }

  /** How many listeners of that process wait for changes. */
  listenersOf(process: SimulatedProcess): number {
    return [...this.#listeners].filter((listener) => listener.process === process).length;
  }

  /** Machines that were cut off are not any more, earlier than they expected: they hear of what they missed. */
  tellMissed(): void {
    for (const listener of this.#listeners) if (listener.isRaised) this.#tell(listener, SIGNAL_MS);
  }

  close(): void {
    this.#connection.close();
  }

  /** The driver of one process, which does not reach the database before `cutUntil`. */
  driver(process: SimulatedProcess, random: Random, faults: Faults, cutUntil: () => number): Database {
    const { kysely } = this.#connection;
    const delays = random.split(`queries of ${process.name}`);
    const latency = () => (faults.happens("query is slow") ? delays.whole(100, SLOW_MS) : delays.delay(LATENCY_MS));
    // Every commit wakes the others, heartbeats too; nobody may depend on that.
    const areBeatsHeard = random.split("heartbeats").chance(0.2);
    const isHeard = () => areBeatsHeard || !this.#isBeat();
    const queue = new SerialQueue();
    /** It fails at once, or after a while, when its time is over. */
    const reach = async (timeoutMs = TIMEOUT_MS) => {
      if (process.elapsed() >= cutUntil()) return;
      faults.count("query is cut off");
      await process.settle(delays.chance(0.5) ? delays.delay(LATENCY_MS) : delays.whole(100, timeoutMs), () => {
        throw failed("SQLITE_IOERR_READ", "the server cannot be reached");
      });
    };
    const write = async <T>(work: (kysely: Kysely<Schema>) => Promise<T>, timeoutMs = TIMEOUT_MS): Promise<T> => {
      await reach(timeoutMs);
      const isLost = faults.happens("query fails");
      const isTwice = faults.happens("transaction runs twice");
      await process.settle(latency(), () => {
        if (isLost) throw failed("SQLITE_IOERR_WRITE", "disk I/O error");
      });
      await this.#lock(process, delays);
      if (process.elapsed() < this.fullUntil) throw failed("SQLITE_FULL", "database or disk is full");
      if (isTwice) await this.#attempt(work);
      const made = await this.#commit(process, work, isHeard, delays);
      const isLate = process.place !== "" && faults.happens("query times out after its commit");
      const isAnswerLost = isLate || faults.happens("query fails after its commit");
      return process.settle(isLate ? delays.whole(timeoutMs / 4, timeoutMs) : delays.delay(LATENCY_MS), () => {
        if (isAnswerLost) throw failed("SQLITE_IOERR_FSYNC", "disk I/O error");
        return made;
      });
    };

    return {
      dialect: "sqlite",
      now: () => this.now(),
      read: async (work) => {
        await reach();
        const isLost = faults.happens("query fails");
        const rows = await process.settle(latency(), () => {
          if (isLost) throw failed("SQLITE_IOERR_READ", "disk I/O error");
          return work(kysely);
        });
        return rows;
      },
      write: (work, { isUrgent = false } = {}) =>
        isUrgent && process.place !== "" ? write(work, URGENT_TIMEOUT_MS) : queue.run(() => write(work)),
      onChange: (call) => {
        const listener = { process, call, isRaised: false, cutUntil };
        this.#listeners.add(listener);
        process.onEnd(() => this.#listeners.delete(listener));
        return () => this.#listeners.delete(listener);
      },
      hurry() {},
      close: async () => {},
    };
  }

  /**
   * Waits until nobody else is in a transaction. What happens to a process in its transaction happens here, before it
   * writes: others cannot see what it has not committed. The lock of a dead process is free.
   */
  async #lock(process: SimulatedProcess, delays: Random): Promise<void> {
    const patience = process.elapsed() + PATIENCE_MS;
    while (this.#holder?.isAlive) {
      if (process.elapsed() > patience) throw failed("SQLITE_BUSY", "database is locked");
      await process.settle(delays.whole(100, 2_000), () => {});
    }
    this.#holder = process;
    if (process.isStruckInTransaction()) await process.settle(0, () => {});
    this.#holder = null;
  }

  /** A transaction that is rolled back and will be repeated. */
  async #attempt<T>(work: (kysely: Kysely<Schema>) => Promise<T>): Promise<void> {
    const { kysely, handle } = this.#connection;
    handle.run("begin immediate");
    await work(kysely).catch(() => null);
    this.#rollBack();
  }

  async #commit<T>(
    process: SimulatedProcess,
    work: (kysely: Kysely<Schema>) => Promise<T>,
    isHeard: () => boolean,
    delays: Random,
  ): Promise<T> {
    const { kysely, handle } = this.#connection;
    handle.run("begin immediate");
    const before = this.#changes.get()?.value;
    this.#memory.written.clear();
    try {
      const made = await work(kysely);
      handle.run("commit");
      if (this.#changes.get()?.value === before) return made;
      if (!this.#isBeat()) this.#tellRuns(process);
      if (isHeard()) this.#raise(delays);
      return made;
    } catch (thrown) {
      this.#rollBack();
      throw thrown;
    }
  }

  #tellRuns(process: SimulatedProcess): void {
    const rows = this.#connection.handle.query<{ seq: number; type: string; task_id: string; event: string }, [number]>(
      "select seq, type, task_id, event from events where seq > ? order by seq",
    );
    for (const { seq, type, task_id, event } of rows.all(this.#lastSeq)) {
      this.#lastSeq = seq;
      const parsed: TaskEvent = JSON.parse(event);
      this.#tellOwner(process, type, task_id, parsed);
      for (const heed of this.#heeds) heed(task_id, parsed, process);
      if (BEGINS.has(type)) this.onBegin(task_id);
      if (ENDS.has(type)) this.onEnd(task_id, JSON.parse(event).run, process);
    }
  }

  #tellOwner(process: SimulatedProcess, type: string, taskId: string, event: TaskEvent): void {
    const owner = this.#owners.get(taskId) ?? null;
    const isOver = ENDS.has(type) || type === "run.requeued";
    if (owner !== null && (type === "task.adopted" || isOver)) this.onTakeover(taskId, owner, process);
    if (event.type === "task.created") this.#owners.set(taskId, event.task.owner);
    else if ("owner" in event) this.#owners.set(taskId, event.owner);
    else if (isOver) this.#owners.delete(taskId);
  }

  #rollBack(): void {
    const { handle } = this.#connection;
    if (handle.inTransaction) handle.run("rollback");
    this.#memory.clear();
  }

  /** Whether the last transaction wrote a heartbeat and nothing else. */
  #isBeat(): boolean {
    return [...this.#memory.written].every((table) => table === "instances");
  }

  #raise(delays: Random): void {
    for (const listener of this.#listeners) {
      if (listener.isRaised) continue;
      listener.isRaised = true;
      const cutMs = Math.max(0, listener.cutUntil() - listener.process.elapsed());
      this.#tell(listener, cutMs + delays.whole(0, SIGNAL_MS));
    }
  }

  #tell(listener: Listener, ms: number): void {
    void listener.process.settle(ms, () => {
      listener.isRaised = false;
      listener.call();
    });
  }
}

function failed(code: string, message: string): unknown {
  return storeFailure(Object.assign(new Error(message), { code }), FILE);
}

interface TableInfo {
  name: string;
  sql: string;
}

function tablesOf(handle: Sqlite): TableInfo[] {
  return handle.query<TableInfo, []>("select name, sql from sqlite_schema where type = 'table'").all();
}

/** The statements that empty every table. A search index has tables of its own and is emptied by a command. */
function clearingOf(handle: Sqlite): string[] {
  const all = tablesOf(handle).filter(({ name }) => !name.startsWith("sqlite_") && name !== "meta");
  const indexes = all.filter(({ sql }) => /^create virtual/i.test(sql)).map(({ name }) => name);
  const plain = all.filter(({ name }) => !indexes.some((index) => name.startsWith(index)));
  return [
    ...plain.map(({ name }) => `delete from "${name}"`),
    ...indexes.map((index) => `insert into "${index}"("${index}") values ('delete-all')`),
    "delete from sqlite_sequence",
    "delete from meta where key <> 'schema_version'",
  ];
}
