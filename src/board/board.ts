/**
 * The board: executes the operations of the protocol's table. Parses the input, runs each `request_id` only once, and
 * delegates to the module of each noun. One board per store: its process starts attempts and dispatches queued
 * follow-ups. Contains no rules of its own.
 */

import { AuditLog } from "../engine/access/audit-log.ts";
import { TranscriptKeeper } from "../engine/transcripts/transcript-keeper.ts";
import { Changes } from "../engine/watching/changes.ts";
import { Waiter } from "../engine/watching/waiter.ts";
import { AsyncAgentsError } from "../model/errors.ts";
import { KeyedQueue } from "../process/keyed-queue.ts";
import { type CallOrigin, callerName, FROM_PERSON, isPerson } from "../protocol/call-origin.ts";
import type { BoardOperation } from "../protocol/operation.ts";
import {
  BOARD_OPERATIONS,
  type BoardOperationName,
  type CallOperation,
  isBoardOperation,
  type OperationOutput,
} from "../protocol/operations.ts";
import type { Repo } from "../worktree/git/repo.ts";
import { allowDirectory, assertDirectory, assertRepo, decideApproval, listApprovals, realOf } from "./approvals.ts";
import { farAttempt, performThere } from "./attempts/attempt-machine.ts";
import { AttemptStart } from "./attempts/attempt-start.ts";
import { attemptTask, listAttempts, listTaskAttempts, stopAttempt } from "./attempts/attempts.ts";
import { KeptDiffs } from "./attempts/kept-diffs.ts";
import { mergeAttempt } from "./attempts/merge.ts";
import { recoverAttempts } from "./attempts/recovery.ts";
import { deleteTask, removeAttempt } from "./attempts/removal.ts";
import { getAttempt, getAttemptDiff } from "./attempts/view.ts";
import { getContext } from "./attempts/workspace.ts";
import type { BoardCall } from "./board-call.ts";
import type { BoardContext, BoardParts } from "./board-context.ts";
import { EndTelling } from "./ends/end-telling.ts";
import { stopLaunch } from "./ends/launch-end.ts";
import { executorOf, hostFor, listExecutors } from "./executors.ts";
import { followUp, listFollowUps } from "./follow-ups.ts";
import { type Input, parseInput } from "./input.ts";
import { assertDepth, assertReviewer, isLaunch } from "./launch-depth.ts";
import { answerQuestion, launchInFolder, listInbox, lowerBudget, steerTask, waitTasks } from "./launched-tasks.ts";
import {
  addProject,
  addRepo,
  findRepo,
  listProjects,
  listRepos,
  removeProject,
  removeRepo,
  updateRepo,
} from "./projects.ts";
import { QueuePump } from "./queue-pump.ts";
import { RequestLedger } from "./request-ledger.ts";
import { assertRole } from "./roles.ts";
import { createTask, getTask, listTasks, updateTask } from "./work-items.ts";
import { TaskWorktrees } from "./worktrees/task-worktrees.ts";

type Handlers = {
  [Name in BoardOperationName]: (input: Input<Name>, call: BoardCall) => Promise<OperationOutput<Name>>;
};

/** Rejects a host or a directory that the caller may not let agents work with. */
export type AssertWorkplace = (
  place: { host: string; directory: string },
  operation: string,
  origin: CallOrigin,
) => Promise<void>;

/** Rejects a repository that the caller may not let agents work with. */
export type AssertRepo = (repo: Repo, operation: string, origin: CallOrigin) => Promise<void>;

export class Board {
  readonly #parts: BoardParts;
  readonly #ledger: RequestLedger;
  readonly #audit: AuditLog;
  readonly #start: AttemptStart;
  readonly #pump: QueuePump;
  /** Null if the store is used by one machine only. */
  readonly #diffs: KeptDiffs | null;
  readonly #handlers: Handlers;

  constructor(context: BoardContext) {
    const changes = new Changes(context);
    const waiter = new Waiter(context, changes);
    const taskWorktrees = new TaskWorktrees(context);
    this.#parts = { ...context, changes, waiter, taskWorktrees, oneAtATime: new KeyedQueue() };
    this.#ledger = new RequestLedger(context);
    this.#audit = new AuditLog(context);
    this.#start = new AttemptStart(this.#parts);
    this.#pump = new QueuePump(this.#parts);
    this.#diffs = context.machine ? new KeptDiffs(this.#parts, new TranscriptKeeper(context)) : null;
    this.#handlers = handlersOf(this.#parts, this.#start, this.#pump);
  }

  /** Repairs what a crash left behind, and continues the queues. */
  async start(): Promise<void> {
    const { changes } = this.#parts;
    await changes.start();
    changes.onEntries((entries) => {
      for (const entry of entries) {
        this.#pump.onEntry(entry);
        this.#diffs?.onEntry(entry);
      }
    });
    await recoverAttempts(this.#parts);
    await this.#ledger.prune();
    await this.#pump.start();
  }

  /** Starts nothing new; the runner handles live runs. */
  async stop(): Promise<void> {
    this.#parts.changes.stop();
    this.#start.stop();
    await this.#pump.stop();
  }

  /** For doors that continue tasks without an operation of the board. A directory that is gone is not allowed. */
  readonly assertWorkplace: AssertWorkplace = async ({ host, directory }, operation, origin) => {
    const call = { operation, origin, hadEffects: () => {} };
    hostFor(this.#parts, executorOf(host), call);
    await assertDirectory(this.#parts, realOf(directory) ?? directory, call);
  };

  /** For doors that make a worktree without an operation of the board. */
  readonly assertRepo: AssertRepo = (repo, operation, origin) =>
    assertRepo(this.#parts, repo, { operation, origin, hadEffects: () => {} });

  readonly call: CallOperation = async (name, input, options) => {
    if (!isBoardOperation(name)) {
      throw new AsyncAgentsError("no_such_path", `There is no operation ${JSON.stringify(String(name).slice(0, 60))}.`);
    }
    const { origin = FROM_PERSON, signal } = options ?? {};
    assertRole(name, origin);
    const { peopleOnly, readOnly, stopsAgent, isReceipt }: BoardOperation = BOARD_OPERATIONS[name];
    // A command that an agent runs may look at what is for people, but not change it.
    if (peopleOnly && (origin.door === "model" || (!readOnly && !isPerson(origin)))) {
      throw new AsyncAgentsError("not_allowed", `Only people can use ${name}, on the command line or the dashboard.`);
    }
    const parsed = parseInput(name, input);
    if (isLaunch(name, parsed)) assertDepth(origin, this.#parts.maxDepth);
    assertReviewer(name, parsed, origin, this.#parts.maxDepth);
    const far = await farAttempt(this.#parts, name, parsed);
    if (far !== null) {
      const answer = await performThere(this.#parts, far, { name, input: parsed, origin });
      return answer as OperationOutput<typeof name>;
    }
    const handler = this.#handlers[name];
    const perform = () =>
      this.#ledger.once(name, parsed as Record<string, unknown>, (hadEffects) =>
        handler(parsed, { operation: name, origin, signal, hadEffects }),
      );
    if (readOnly || isReceipt) return perform();
    return this.#audit.record({ by: callerName(origin), operation: name, input: parsed, stopsAgent }, perform);
  };
}

function handlersOf(parts: BoardParts, start: AttemptStart, pump: QueuePump): Handlers {
  const telling = new EndTelling(parts);
  return {
    list_projects: (input) => listProjects(parts, input),
    list_repos: (input) => listRepos(parts, input),
    list_tasks: (input) => listTasks(parts, input),
    list_task_attempts: (input) => listTaskAttempts(parts, input),
    get_task: (input) => getTask(parts, input),
    create_task: (input, call) => createTask(parts, input, call),
    update_task: (input) => updateTask(parts, input),
    delete_task: (input) => deleteTask(parts, start, input),
    start_task_attempt: (input, call) => start.start(input, call),
    follow_up: (input, call) => followUp(parts, pump, input, call),
    get_context: (input) => getContext(parts, input),
    get_attempt: (input, call) => getAttempt(parts, start, input, call),
    stop_attempt: (input) => stopAttempt(parts, start, input),
    get_attempt_diff: (input) => getAttemptDiff(parts, input),
    merge_attempt: (input, call) => mergeAttempt(parts, input, call),
    answer_question: (input, call) => answerQuestion(parts, input, call),
    add_project: (input, call) => addProject(parts, input, call),
    add_repo: (input, call) => addRepo(parts, input, call),
    list_executors: (input, call) => listExecutors(parts, input, call),
    launch_task: (input, call) => launchInFolder(parts, input, call),
    wait_tasks: (input, { signal }) => waitTasks(parts, input, signal),
    list_inbox: (input) => listInbox(parts, input),
    steer_task: (input, call) => steerTask(parts, input, call),
    lower_budget: (input, call) => lowerBudget(parts, input, call),
    read_end: (input, call) => telling.read(input, call),
    follow_launch: (input, call) => telling.follow(input, call),
    next_ends: (input, { signal }) => telling.next(input, signal),
    hear_ends: (input) => telling.hear(input),
    stop_launch: (input, call) => stopLaunch(parts, start, input, call),
    remove_attempt: (input) => removeAttempt(parts, start, input),
    remove_project: (input) => removeProject(parts, input),
    find_repo: (input, call) => findRepo(parts, input, call),
    attempt_task: (input) => attemptTask(parts, input),
    list_attempts: (input) => listAttempts(parts, input),
    list_follow_ups: (input) => listFollowUps(parts, input),
    update_repo: (input, call) => updateRepo(parts, input, call),
    list_approvals: (input) => listApprovals(parts, input),
    decide_approval: (input) => decideApproval(parts, input),
    allow_directory: (input, call) => allowDirectory(parts, input, call),
    remove_repo: (input) => removeRepo(parts, input),
  };
}
