/**
 * Watches the runs of all tasks as they are committed, event by event: whose they are, how many a process does at once,
 * what people are shown, and how long runs wait for their provider. Compares with what agents and processes really do;
 * does not look at the queue of runs, which `queue-watch.ts` watches.
 */
import type { TaskEvent } from "../../src/model/events.ts";
import type { Machine } from "./machine.ts";
import type { SharedDatabase } from "./shared-database.ts";
import { EPOCH, type SimulatedProcess } from "./simulated-process.ts";

interface WatchedRun {
  task: string;
  number: number;
  /** Of the task; empty until it has one. */
  sessionId: string;
  /** The prompt that is to be sent first. */
  messageId: string;
  /** All that it ever had. */
  owners: Set<SimulatedProcess>;
  /** The processes that took it over: it has a slot there, whatever the limit is. */
  adopters: Set<SimulatedProcess>;
  hasPaused: boolean;
  /** Until when, by the wall clock, it waits for its provider; null if it does not. */
  pausedUntil: number | null;
}

export class RunWatch {
  readonly #machine: Machine;
  readonly #database: SharedDatabase;
  /** The newest run of each task, and all by `task run`. */
  readonly #newest = new Map<string, WatchedRun>();
  readonly #all = new Map<string, WatchedRun>();
  /** The prompts that each process has begun to send. */
  readonly #prompts = new Map<SimulatedProcess, Set<string>>();

  constructor(machine: Machine, database: SharedDatabase) {
    this.#machine = machine;
    this.#database = database;
    database.onEntry((taskId, event, by) => this.#heed(taskId, event, by));
  }

  /** Every process that had the run, at any time. */
  ownersOf(taskId: string, run: number): SimulatedProcess[] {
    return [...(this.#all.get(`${taskId} ${run}`)?.owners ?? [])];
  }

  /** A prompt leaves a process: with it, no more runs are at work there than its limit allows. */
  prompts(process: SimulatedProcess, messageId: string): void {
    const known = this.#prompts.get(process) ?? new Set();
    this.#prompts.set(process, known.add(messageId));
    const limit = this.#machine.settings.maxConcurrent;
    // What a runner does at once is a limit of the fleet.
    if (limit === null || process.name.startsWith("runner")) return;
    const atWork = [...known].filter((id) => this.#hasSlot(process, id));
    if (atWork.length > limit)
      this.#break(`${process.name} does ${atWork.length} runs at once, and its limit is ${limit}`);
  }

  #hasSlot(process: SimulatedProcess, messageId: string): boolean {
    const live = this.#database.liveRunOf(messageId);
    const run = live && this.#newest.get(live.id);
    if (!run || live.phase === "paused") return false;
    return this.#machine.instances.get(live.owner ?? "") === process && !run.adopters.has(process);
  }

  #heed(taskId: string, event: TaskEvent, by: SimulatedProcess): void {
    if (event.type === "task.created") {
      const { sessionId, messageId, owner } = event.task;
      this.#begins({ task: taskId, number: 0, sessionId, messageId }, owner);
      return;
    }
    const run = this.#newest.get(taskId);
    if (!run) return;
    if (event.type === "task.resumed") {
      const { messageId, owner } = event;
      this.#begins({ task: taskId, number: run.number + 1, sessionId: run.sessionId, messageId }, owner);
    } else if (event.type === "task.claimed") {
      run.sessionId = event.sessionId;
      run.messageId = event.messageId;
      this.#owns(run, event.owner);
    } else if (event.type === "task.adopted") {
      this.#owns(run, event.owner);
      run.adopters.add(by);
      this.#adopted(run, by);
    } else if (event.type === "run.phased") this.#asks(run, event);
    else if (event.type === "run.paused") this.#pauses(run, event);
    else if (event.type === "run.continued") this.#goesOn(run);
  }

  #begins(named: Pick<WatchedRun, "task" | "number" | "sessionId" | "messageId">, owner: string | null): void {
    const run = { ...named, owners: new Set<SimulatedProcess>(), adopters: new Set<SimulatedProcess>() };
    const watched: WatchedRun = { ...run, hasPaused: false, pausedUntil: null };
    this.#newest.set(named.task, watched);
    this.#all.set(`${named.task} ${named.number}`, watched);
    this.#owns(watched, owner);
  }

  #owns({ owners }: WatchedRun, owner: string | null): void {
    const process = this.#machine.instances.get(owner ?? "");
    if (process) owners.add(process);
  }

  /** A run that was never prompted is not at work, although its session may be: with what a person wrote there. */
  #adopted({ task, sessionId, messageId, hasPaused }: WatchedRun, by: SimulatedProcess): void {
    if (!hasPaused && this.#machine.work.of(messageId).sentBy.length === 0)
      this.#break(`${by.name} took ${task} over as if it was at work, and nothing of it was ever in ${sessionId}`);
  }

  /** People decide by the text. */
  #asks({ task }: WatchedRun, { detail }: Extract<TaskEvent, { type: "run.phased" }>): void {
    if (detail?.kind !== "waiting") return;
    const asked = this.#machine.work.askedText(detail.requestId);
    if (asked !== detail.text) this.#break(`${task} shows "${detail.text}", and its agent asks: ${asked}`);
  }

  #pauses(run: WatchedRun, { cause, until }: Extract<TaskEvent, { type: "run.paused" }>): void {
    run.hasPaused = true;
    run.pausedUntil = cause === "quota" ? until : null;
    if (cause !== "quota" || this.#areClocksWrong) return;
    const named = this.#machine.work.returnsOf(run.sessionId);
    if (!named.some((at) => at <= until))
      this.#break(`${run.task} pauses until ${until}, and its provider is back at ${named.join(" or ")}`);
  }

  #goesOn(run: WatchedRun): void {
    const until = run.pausedUntil ?? 0;
    run.pausedUntil = null;
    const ms = until - (EPOCH + this.#machine.timeline.now);
    if (ms > 0 && !this.#areClocksWrong)
      this.#break(`${run.task} goes on ${Math.ceil(ms / 1000)} s before its provider is back`);
  }

  /** Times of the day mean nothing then. */
  get #areClocksWrong(): boolean {
    return this.#machine.faults.counts.has("clock jumps");
  }

  #break(words: string): void {
    this.#machine.broken.push(words);
  }
}
