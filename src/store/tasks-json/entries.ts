/**
 * The format of tasks.json: an object that maps a session's id to its task. Reads every format that was ever
 * documented, whoever wrote it; writes the most complete one, without prompts and results. Pure: accesses no files.
 */
import { noProgress, type Progress } from "../../model/progress.ts";
import { isLive, STATUSES, type Status, type Task } from "../../model/task.ts";

/** One task in the file. Earlier versions had only the first six fields. */
interface TasksJsonEntry {
  description: string;
  agent: string;
  parentSessionID: string;
  createdAt: string;
  status: Status;
  resumeCount: number;
  completedAt?: string;
  error?: string;
  batchId?: string;
  isForked?: boolean;
  parentMessageID?: string;
  parentAgent?: string;
  directory?: string;
  host?: string;
  model?: string;
  progress?: Progress;
  /** Only if it differs from the session's id. */
  id?: string;
}

/** The error of a task that no process drives any more. */
const INTERRUPTED = "interrupted";
const LAST_TIME = 8.64e15;

/** The fields of a task that go into the file. */
export type MirroredTask = Pick<
  Task,
  | "id"
  | "sessionId"
  | "host"
  | "directory"
  | "parentSessionId"
  | "parentMessageId"
  | "parentAgent"
  | "description"
  | "agent"
  | "model"
  | "batchId"
  | "isForked"
  | "status"
  | "startedAt"
  | "completedAt"
  | "progress"
> & { run: Pick<Task["run"], "number" | "error"> };

export function entryOf(task: MirroredTask): TasksJsonEntry {
  return {
    description: task.description,
    agent: task.agent,
    parentSessionID: task.parentSessionId,
    createdAt: isoTime(task.startedAt),
    status: task.status,
    resumeCount: task.run.number,
    completedAt: task.completedAt === null ? undefined : isoTime(task.completedAt),
    error: task.run.error ?? undefined,
    batchId: task.batchId,
    isForked: task.isForked,
    parentMessageID: task.parentMessageId,
    parentAgent: task.parentAgent,
    directory: task.directory,
    host: task.host,
    model: task.model ?? undefined,
    progress: task.progress,
    id: task.id === task.sessionId ? undefined : task.id,
  };
}

/** The tasks of a parsed file, oldest first. `sound` is false if anything in it was not as documented. */
export function tasksOf(value: unknown, now: number): { tasks: Task[]; sound: boolean } {
  if (!isObject(value)) return { tasks: [], sound: false };
  let sound = true;
  const tasks: Task[] = [];
  for (const [sessionId, entry] of Object.entries(value)) {
    const fields = new Fields(entry);
    const task = sessionId === "" ? null : taskOfEntry(sessionId, fields, now);
    if (task === null || fields.wrong) sound = false;
    if (task !== null) tasks.push(task);
  }
  return { tasks: tasks.sort((a, b) => a.startedAt - b.startedAt), sound };
}

function taskOfEntry(sessionId: string, fields: Fields, now: number): Task | null {
  const description = fields.text("description");
  const agent = fields.text("agent");
  const parentSessionId = fields.text("parentSessionID");
  const startedAt = fields.time("createdAt");
  const status = fields.text("status") as Status | null;
  if (description === null || agent === null || parentSessionId === null || startedAt === null) return null;
  if (status === null || !STATUSES.includes(status)) return null;

  const id = fields.text("id") ?? sessionId;
  const interrupted = isLive(status);
  const outcome = interrupted ? "error" : (status as "completed" | "error" | "cancelled");
  const endedAt = interrupted ? now : (fields.time("completedAt") ?? startedAt);
  const error = interrupted ? INTERRUPTED : fields.text("error");
  const before = noProgress(startedAt);
  const run = { number: fields.count("resumeCount"), prompt: "", messageId: "", startedAt, endedAt, outcome };
  return {
    id,
    sessionId,
    host: fields.text("host") ?? "opencode",
    directory: fields.text("directory") ?? "",
    parentSessionId,
    parentMessageId: fields.text("parentMessageID") ?? "",
    parentAgent: fields.text("parentAgent") ?? "",
    description,
    agent,
    model: fields.text("model"),
    batchId: fields.text("batchId") ?? id,
    after: null,
    isForked: fields.truth("isForked"),
    status: outcome,
    phase: null,
    phaseDetail: null,
    run: { ...run, outcome, result: null, error: outcome === "completed" ? null : error, before, pauses: null },
    startedAt,
    completedAt: endedAt,
    resultRetrievedAt: null,
    clearedAt: null,
    cancelRequestedAt: null,
    owner: null,
    fence: 0,
    wake: "each",
    machine: "",
    clone: null,
    progress: fields.progress("progress") ?? before,
  };
}

/** An entry's fields by type. A missing field is null; one of another type is null and recorded as wrong. */
class Fields {
  wrong: boolean;
  readonly #entry: Record<string, unknown>;

  constructor(entry: unknown) {
    this.wrong = !isObject(entry);
    this.#entry = isObject(entry) ? entry : {};
  }

  text(name: string): string | null {
    return this.#field(name, (value): value is string => typeof value === "string");
  }

  truth(name: string): boolean {
    return this.#field(name, (value): value is boolean => typeof value === "boolean") ?? false;
  }

  count(name: string): number {
    return this.#field(name, (value): value is number => Number.isSafeInteger(value) && (value as number) >= 0) ?? 0;
  }

  time(name: string): number | null {
    const text = this.#field(
      name,
      (value): value is string => typeof value === "string" && !Number.isNaN(Date.parse(value)),
    );
    return text === null ? null : Date.parse(text);
  }

  progress(name: string): Progress | null {
    return this.#field(name, isProgress);
  }

  #field<T>(name: string, is: (value: unknown) => value is T): T | null {
    const value = Object.hasOwn(this.#entry, name) ? this.#entry[name] : undefined;
    if (value === undefined || value === null) return null;
    if (is(value)) return value;
    this.wrong = true;
    return null;
  }
}

function isProgress(value: unknown): value is Progress {
  if (!isObject(value) || !isObject(value.tokens) || !isObject(value.toolCallsByName)) return false;
  const { input, output, reasoning, cacheRead, cacheWrite } = value.tokens;
  const counts = [value.toolCalls, value.lastUpdate, value.cost, input, output, reasoning, cacheRead, cacheWrite];
  return (
    [...counts, ...Object.values(value.toolCallsByName)].every(Number.isFinite) &&
    Array.isArray(value.lastTools) &&
    value.lastTools.every((name) => typeof name === "string")
  );
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isoTime(time: number): string {
  return new Date(Math.min(Math.max(time, -LAST_TIME), LAST_TIME)).toISOString();
}
