/**
 * The tables for Kysely, the same on SQLite and PostgreSQL: only numbers and text, JSON as text, times in milliseconds
 * since the epoch, booleans as 0 and 1. `migrations.ts` creates them. No behaviour.
 */
import type { Generated, Selectable } from "kysely";
import type { AccessSchema } from "./access/schema.ts";
import type { BoardSchema } from "./board/schema.ts";
import type { NotificationSchema } from "./notifications/schema.ts";

export interface Schema extends BoardSchema, AccessSchema, NotificationSchema {
  meta: MetaTable;
  tasks: TasksTable;
  runs: RunsTable;
  events: EventsTable;
  notices: NoticesTable;
  followers: FollowersTable;
  launches: LaunchesTable;
  instances: InstancesTable;
  parents: ParentsTable;
  agent_totals: AgentTotalsTable;
  task_search: TaskSearchTable;
  queued_runs: QueuedRunsTable;
  queue_lines: QueueLinesTable;
  predecessors: PredecessorsTable;
  runners: RunnersTable;
  remote_calls: RemoteCallsTable;
  transcripts: TranscriptsTable;
  run_spans: RunSpansTable;
  steering: SteeringTable;
  budgets: BudgetsTable;
  task_budgets: TaskBudgetsTable;
  feed_end: FeedEndTable;
  sqlite_sequence: SqliteSequenceTable;
}

/** SQLite's own: the highest number that each table has ever given, even if that row is gone. */
interface SqliteSequenceTable {
  name: string;
  seq: number;
}

/** Facts about the store itself, such as the version of its schema and the progress of the mirror file. */
interface MetaTable {
  key: string;
  value: string;
}

/** A task without its runs; the newest run is `(id, run)` in `runs`. */
interface TasksTable {
  id: string;
  session_id: string;
  host: string;
  directory: string;
  parent_session_id: string;
  parent_message_id: string;
  parent_agent: string;
  description: string;
  /** The text that the search covers: description, id and error, in lower case. */
  description_search: string;
  /** The beginning of the description in lower case, for sorting. */
  sort_name: Generated<string>;
  agent: string;
  model: string | null;
  batch_id: string;
  is_forked: number;
  wake: Generated<string>;
  status: string;
  /** 1 while running or resumed: the condition of the partial index of live tasks. */
  live: number;
  phase: string | null;
  phase_detail: string | null;
  run: number;
  started_at: number;
  /** The seq of the event that created it: orders tasks that started in the same millisecond. */
  created_seq: number;
  completed_at: number | null;
  result_retrieved_at: number | null;
  cleared_at: number | null;
  cancel_requested_at: number | null;
  owner: string | null;
  /** Grows with each adoption and each resume: who names an earlier one has lost the run. */
  fence: number;
  machine: string;
  /** The clone that it works in, as JSON; null if it works in the folder that it was launched for. */
  clone: Generated<string | null>;
  /** What it starts after, as JSON; null if it did not wait for others. */
  after_tasks: Generated<string | null>;
  progress: string;
  /** How long the newest run took, in milliseconds; 0 while the task is live. */
  took: Generated<number>;
  /** What the task cost; 0 while it is live. */
  cost: Generated<number>;
}

interface RunsTable {
  task_id: string;
  number: number;
  prompt: string;
  message_id: string;
  started_at: number;
  ended_at: number | null;
  outcome: string | null;
  result: string | null;
  error: string | null;
  before: string;
  /** How often it was paused, as JSON; null if it never was. */
  pauses: Generated<string | null>;
}

interface EventsTable {
  seq: Generated<number>;
  /** PostgreSQL only: its place in the feed; null until it is given one. */
  place: Generated<number | null>;
  task_id: string;
  type: string;
  /** The complete event: folding all events of a task with `transition` gives the task. */
  event: string;
}

interface NoticesTable {
  id: Generated<number>;
  task_id: string;
  run: number;
  kind: string;
  topic: string;
  parent_session_id: string;
  created_at: number;
  batch_ended: number;
  batch_total: number;
  batch_live: number;
  state: string;
  message_id: string | null;
  sender: string | null;
  attempts: number;
  reason: string | null;
  settled_at: number | null;
  next_try_at: number | null;
  /** Grows with each claim: who names an earlier one has lost the group. */
  fence: Generated<number>;
  wake: Generated<string>;
}

/** Programs that are told how what they launched over MCP ended. */
interface FollowersTable {
  /** A task, or an attempt. */
  task_id: string;
  client: string;
  way: string;
  call_id: string | null;
}

interface LaunchesTable {
  id: string;
  owner: string;
  at: number;
  parent_session_id: string;
  parent_message_id: string;
  parent_agent: string;
  host: string;
  directory: string;
  description: string;
  prompt: string;
  message_id: string;
  agent: string;
  model: string | null;
  batch_id: string;
  is_forked: number;
  machine: string;
  wake: Generated<string>;
}

interface InstancesTable {
  id: string;
  pid: number;
  process_start: string;
  boot_id: string;
  /** Empty if it was written by a version that did not know it. */
  pid_namespace: string;
  beat: number;
  host: string;
  directory: string;
  started_at: number;
  /** Empty if only one machine can use the store. */
  machine: string;
  /** By the database's clock; null if it is not judged by a lease. */
  lease_until: number | null;
}

interface ParentsTable {
  session_id: string;
  handler: string | null;
  agent: string | null;
  model: string | null;
  variant: string | null;
  seen_at: number;
  host: string | null;
  machine: string;
}

/** The runs of the queue that have not ended. */
interface QueuedRunsTable {
  /** Orders runs of the same priority. */
  seq: Generated<number>;
  task_id: string;
  line: string;
  priority: number;
  /** `held`: in no line, because its task waits for others. */
  state: "held" | "waiting" | "claimed" | "begun";
  /** How often it has been claimed. */
  fence: number;
  claimed_by: string | null;
  /** When the claim runs out; null unless it is claimed. */
  claimed_until: number | null;
  /** What the driver of the lines calls it. */
  ticket: string;
  /** How many retries are left. */
  retries: number;
  source: string | null;
  limits: string;
  /** Why only one machine can do it. */
  bound: Generated<string | null>;
  /** Why the last runner that claimed it gave it back. */
  trouble: Generated<string | null>;
}

/** The different needs of all runs that were ever queued. */
interface QueueLinesTable {
  line: string;
  host: string;
  model: string | null;
  /** A JSON array of texts. */
  labels: string;
  machine: string | null;
  remote: Generated<string | null>;
  /** Set for runs that only a process with that folder begins. */
  directory: Generated<string | null>;
}

/** What the tasks wait for that may not start yet. */
interface PredecessorsTable {
  task_id: string;
  predecessor_id: string;
}

/** Runners that live, and those that are gone for a short time. */
interface RunnersTable {
  id: string;
  machine: string;
  hostname: string;
  version: string;
  /** What it takes from the queue, as JSON. */
  offer: string;
  load: number;
  /** What it cannot do and why, as JSON. */
  lacks: string;
  state: string;
  started_at: number;
  /** By the database's clock. */
  seen_at: number;
}

/** The totals of all tasks and runs of one agent, written with every event that changes them. */
interface AgentTotalsTable {
  agent: string;
  /** PostgreSQL only: the writer's connection, roughly, so that writers rarely meet. */
  slot: Generated<number>;
  running: number;
  completed: number;
  error: number;
  cancelled: number;
  resumed: number;
  ended_runs: number;
  duration_sum: number;
  /** Null if no run has ended. */
  duration_min: number | null;
  duration_max: number | null;
  tool_calls: number;
  input_tokens: number;
  output_tokens: number;
  reasoning_tokens: number;
  cache_read_tokens: number;
  cache_write_tokens: number;
  cost: number;
}

/** What one process asks another to do; `input` and `answer` are JSON. */
interface RemoteCallsTable {
  id: string;
  to_instance: string;
  operation: string;
  input: string;
  made_by: string;
  state: string;
  answer: string | null;
  created_at: number;
  expires_at: number;
}

/** What an ended run shows, where several machines use the store; `content` is compressed JSON. */
interface TranscriptsTable {
  task_id: string;
  kind: string;
  run: number;
  content: string;
  at: number;
}

/** What a run spent its time on, as JSON. */
interface RunSpansTable {
  task_id: string;
  run: number;
  spans: string;
}

/** What was said to runs at work. */
interface SteeringTable {
  id: string;
  task_id: string;
  run: number;
  /** Its place among the messages of its run. */
  number: number;
  text: string;
  said_by: string;
  state: string;
  message_id: string | null;
  reason: string | null;
  accepted_at: number;
  sent_at: number | null;
  settled_at: number | null;
}

/** What tasks may use together, and have used: written with every event of theirs that changes it. */
interface BudgetsTable {
  id: string;
  limit_tokens: number | null;
  limit_cost: number | null;
  limit_ms: number | null;
  limit_tasks: number | null;
  spent_tokens: number;
  spent_cost: number;
  spent_ms: number;
  reserved_tokens: number;
  reserved_cost: number;
  reserved_ms: number;
  largest_tokens: number;
  largest_cost: number;
  tasks: number;
  live: number;
  flying: number;
  unpriced: number;
  warned_at: number | null;
  used_up_at: number | null;
  set_by: string;
  set_at: number;
}

/** Which budgets a task counts in; the lowest rank is the nearest. */
interface TaskBudgetsTable {
  task_id: string;
  budget_id: string;
  rank: number;
  /** 1 while a request of the task to its model is under way. */
  flying: number;
}

/** PostgreSQL only: one row, the last place of the feed that was given. */
interface FeedEndTable {
  place: number;
}

/** SQLite only: the index of the keyword search, maintained by triggers on `tasks`. */
interface TaskSearchTable {
  /** The task's `created_seq`. */
  rowid: number;
  description: string;
}

/** What a query of all columns of a table returns. */
export type RowOf<Table extends keyof Schema> = Selectable<Schema[Table]>;
