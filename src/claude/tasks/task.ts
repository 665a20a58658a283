/**
 * The handle of one task: shows what the TaskManager knows, waits, and asks the session to stop or continue it. It
 * stands for the task, not for one run: after a resume it shows the new run.
 */
import { AsyncAgentsError } from "../../model/errors.ts";
import { limitsOf, pause, type WaitOptions, within } from "../../process/deadline.ts";
import { TaskTimeoutError } from "../errors.ts";
import type { TaskUsage } from "../messages/message-schemas.ts";
import { isSuccess } from "../messages/parse-message.ts";
import type { SavedTask } from "./saved-task.ts";
import { type OutputSource, readMessages, readText } from "./task-output.ts";
import type { TaskRecord } from "./task-record.ts";
import type { TaskOutcome, TaskRun, TaskStatus } from "./task-run.ts";
import { type TokenCount, type TranscriptMessage, tokensByModel } from "./transcript.ts";

/** What a handle needs from a session. A `Query` of the Claude Agent SDK has `stopTask`; `openClaude` provides both. */
export interface TaskControl {
  stopTask(taskId: string): Promise<void>;
  /** Sends a prompt to the main conversation; a returned promise settles with that turn. */
  send?(prompt: string): unknown;
}

/** What a handle needs from the TaskManager. */
interface TaskContext {
  control: TaskControl | undefined;
  /** Resolves when another run of the task starts; rejects when the process dies. The signal ends the wait. */
  nextRun(taskId: string, signal: AbortSignal): Promise<void>;
  /** The tasks that an agent started. */
  startedBy(taskId: string): Task[];
}

const CANCEL_MS = 10_000;
const RESUME_MS = 120_000;
const REFUSAL_MS = 2_000;

/** One task of a Claude session. */
export class Task {
  readonly id: string;
  readonly #record: TaskRecord;
  readonly #context: TaskContext;

  /** @internal The TaskManager creates handles. */
  constructor(record: TaskRecord, context: TaskContext) {
    this.id = record.id;
    this.#record = record;
    this.#context = context;
  }

  /** The newest run; absent if the CLI does not name runs. */
  get runId(): string | undefined {
    return this.#run?.isNamed ? this.#run.key : undefined;
  }

  get description(): string {
    return this.#run?.facts.description ?? "";
  }

  get prompt(): string | undefined {
    return this.#run?.facts.prompt;
  }

  /** The agent that works on it; absent for shells. */
  get agentType(): string | undefined {
    return this.#run?.facts.subagent_type;
  }

  /** `local_agent`, `local_bash`, or another value of the CLI. */
  get taskType(): string | undefined {
    return this.#run?.facts.task_type;
  }

  /** The tool call that started it; a resume has another one. */
  get toolUseId(): string | undefined {
    return this.#run?.facts.tool_use_id;
  }

  /** The task whose agent started this one. */
  get parentId(): string | undefined {
    return this.#run?.facts.parent_task_id;
  }

  /** False if Claude waits for it. */
  get isBackground(): boolean {
    return this.#run?.isBackground ?? true;
  }

  /** True for Claude's own housekeeping: sessions do not wait for it. */
  get isAmbient(): boolean {
    return this.#run?.facts.ambient ?? false;
  }

  /** The last tool that it used, if known. */
  get lastTool(): string | undefined {
    return this.#run?.progress?.last_tool_name;
  }

  /** The agent's last text. Known only if the session was opened with `forwardSubagentText: true`. */
  get lastText(): string | undefined {
    return this.#run?.lastText;
  }

  /** The session that it belongs to. */
  get sessionId(): string | undefined {
    return this.#run?.sessionId;
  }

  get outputFile(): string | undefined {
    return this.#run?.outcome?.outputFile ?? this.#run?.outputFile;
  }

  /** Empty while it runs. */
  status(): TaskStatus | "" {
    return this.#run?.outcome?.status ?? "";
  }

  /** Empty while it runs. */
  summary(): string {
    return this.#run?.outcome?.summary ?? "";
  }

  /** What it has used, as far as Claude has reported. */
  usage(): TaskUsage | undefined {
    return this.#run?.outcome?.usage ?? this.#run?.progress?.usage;
  }

  /** How it ended, or undefined while it runs. Makes no request. */
  poll(): TaskOutcome | undefined {
    return this.#run?.outcome;
  }

  /** Waits for the end of the newest run. Rejects with TaskTimeoutError on a timeout; the task continues then. */
  wait(options: WaitOptions = {}): Promise<TaskOutcome> {
    const run = this.#current();
    return within(run.settled, options, (timeout) => new TaskTimeoutError(this.id, timeout));
  }

  /**
   * Stops only this task. Returns how it ended, which may have been earlier. The limits apply to the whole call; the
   * default timeout is 10 seconds.
   */
  async cancel(options: WaitOptions = {}): Promise<TaskOutcome> {
    const limits = limitsOf(options, CANCEL_MS);
    const run = this.#current();
    const { control } = this.#context;
    if (run.isLive && !control) throw noControl("cancel()");
    const ended = run.isLive && control ? Promise.race([run.settled, this.#stop(run, control)]) : run.settled;
    return within(ended, limits, (timeout) => new TaskTimeoutError(this.id, timeout, "was not stopped"));
  }

  /**
   * Stops this task and all its descendants. Returns how they ended, this one first. The limits are those of cancel().
   * Claude stops one task at a time, and names a parent only for tasks that agents started.
   */
  async cancelTree(options: WaitOptions = {}): Promise<TaskOutcome[]> {
    const limits = limitsOf(options, CANCEL_MS);
    const timedOut = (timeout: number) => new TaskTimeoutError(this.id, timeout, "was not stopped with all below it");
    return within(this.#cancelBelow(limits), limits, timedOut);
  }

  /**
   * Continues an agent that has ended: resolves when its new run has started; wait() then waits for that run. Agents
   * cannot be addressed directly, so the main conversation is asked to pass the prompt on, which costs a turn. After a
   * timeout (default 120 seconds) or an abort the prompt may still arrive; if the limits are invalid, nothing is sent.
   */
  async resume(prompt: string, options: WaitOptions = {}): Promise<Task> {
    const limits = limitsOf(options, RESUME_MS);
    const run = this.#current();
    const { control } = this.#context;
    if (!control?.send) throw noControl("resume()");
    if (run.isLive) {
      const message = `Task ${this.id} is still running: wait() for its end, or cancel() it, before resume().`;
      throw new AsyncAgentsError("task_running", message);
    }
    // A resumed session reports its earlier tasks without a type: let Claude decide.
    if (run.facts.task_type !== undefined && !this.#isAgent(run)) {
      const kind = run.facts.task_type === "local_bash" ? "a shell" : run.facts.task_type;
      const message = `Task ${this.id} is ${kind}: only agents can be continued.`;
      throw new AsyncAgentsError("task_not_resumable", message);
    }
    const over = new AbortController();
    try {
      const begun = this.#context.nextRun(this.id, over.signal);
      const turn = Promise.resolve(control.send(resumePrompt(this.id, prompt)));
      const refused = turn.then((result) => refusal(this.id, result, over.signal));
      const timedOut = (timeout: number) => new TaskTimeoutError(this.id, timeout, "was not continued");
      await within(Promise.race([begun, refused]), limits, timedOut);
    } finally {
      over.abort();
    }
    return this;
  }

  /** The task's output as text: what an agent wrote, or all that a shell printed. */
  readOutput(options: WaitOptions = {}): Promise<string> {
    return readText(this.#source(), options);
  }

  /**
   * The tokens that the agent has used so far, by model, from its conversation: Claude does not report the cost of a
   * single task (`total_cost_usd` of a result is that of the session).
   */
  async tokens(options: WaitOptions = {}): Promise<Record<string, TokenCount>> {
    return tokensByModel(await this.messages(options));
  }

  /** The task in a form that can be stored. */
  save(): SavedTask {
    const { id, description, isBackground, runId, sessionId, prompt, agentType, taskType, toolUseId } = this;
    const { parentId, outputFile } = this;
    const facts = { id, description, isBackground, runId, sessionId, prompt, agentType, taskType, toolUseId };
    return { ...facts, parentId, outputFile, outcome: this.poll() };
  }

  /** The agent's conversation so far, oldest first. */
  messages(options: WaitOptions = {}): Promise<TranscriptMessage[]> {
    return readMessages(this.#source(), options);
  }

  /** Tasks that it starts while it is being stopped are found in the next round. */
  async #cancelBelow(limits: WaitOptions): Promise<TaskOutcome[]> {
    const own = await this.cancel(limits);
    for (;;) {
      const below = this.#below();
      const outcomes = await Promise.all(below.map((task) => task.cancel(limits)));
      if (this.#below().length === below.length) return [own, ...outcomes];
    }
  }

  #below(): Task[] {
    const found = new Set<Task>();
    const look = (id: string) => {
      for (const task of this.#context.startedBy(id)) {
        if (task.id === this.id || found.has(task)) continue;
        found.add(task);
        look(task.id);
      }
    };
    look(this.id);
    return [...found];
  }

  async #stop(run: TaskRun, control: TaskControl): Promise<TaskOutcome> {
    try {
      await control.stopTask(this.id);
    } catch (cause) {
      if (run.isLive) {
        throw new AsyncAgentsError(
          "host_failed",
          `Claude did not accept the request to stop task ${this.id}. Try again, or close() the session.`,
          { cause },
        );
      }
    }
    return run.settled;
  }

  get #run(): TaskRun | undefined {
    return this.#record.current;
  }

  #current(): TaskRun {
    const run = this.#run;
    if (!run) throw new AsyncAgentsError("internal", `Task ${this.id} has no run.`);
    return run;
  }

  #isAgent(run: TaskRun): boolean {
    return run.facts.task_type === "local_agent" || run.facts.subagent_type !== undefined;
  }

  #source(): OutputSource {
    const run = this.#current();
    return {
      taskId: this.id,
      path: this.outputFile,
      isAgent: run.facts.task_type === undefined ? undefined : this.#isAgent(run),
      // A lost task writes nothing more: its output is complete.
      isLive: run.isLive || run.outcome?.status === "lost",
      lastText: run.outcome && isSuccess(run.outcome) ? run.outcome.summary : undefined,
    };
  }
}

function noControl(what: string): AsyncAgentsError {
  const message = `${what} needs a session: use openClaude, or give the TaskManager a \`control\` (the SDK's query has stopTask).`;
  return new AsyncAgentsError("host_unsupported", message);
}

/**
 * The turn that should continue the task is over: if a run started in it, it has been reported by now, or soon will be.
 */
async function refusal(taskId: string, result: unknown, over: AbortSignal): Promise<never> {
  const isTurn = typeof result === "object" && result !== null;
  if (isTurn) await pause(REFUSAL_MS, { signal: over });
  // Without a turn only the timeout ends the wait; after the timeout nobody is waiting.
  if (!isTurn || over.aborted) return new Promise(() => {});
  const said = "result" in result ? String(result.result).slice(0, 500) : "";
  throw new AsyncAgentsError("host_failed", `Claude did not continue task ${taskId}. It said: ${said}`, {
    details: { taskId },
  });
}

function resumePrompt(taskId: string, prompt: string): string {
  return [
    `Continue the agent ${taskId}: call the SendMessage tool exactly once, with to: "${taskId}" and, as the message, the`,
    "text between the two marks, unchanged. Do nothing else: do not work on the text yourself, and end your turn after it.",
    "<message-for-agent>",
    prompt,
    "</message-for-agent>",
  ].join("\n");
}
