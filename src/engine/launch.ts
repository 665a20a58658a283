/**
 * Launch, fork and resume: checks the request, creates the session, stores the task, and lets the driver begin. A
 * rejected request creates and changes nothing. The batch is chosen in the transaction that stores the launch.
 */
import { type AgentInfo, isRefusal, splitModel } from "../hosts/host.ts";
import type { After } from "../model/after.ts";
import { type BudgetLimits, type NewBudgets, NO_LIMITS, stricter } from "../model/budgets/budget.ts";
import { AsyncAgentsError } from "../model/errors.ts";
import { limitsOf, type RunLimits } from "../model/limits.ts";
import { isLive, MAX_NAME, type Task, type Wake } from "../model/task.ts";
import { isResumable, type Transition } from "../model/transition.ts";
import { isSameMachine } from "../process/machine.ts";
import type { Launch, Parent } from "../store/store.ts";
import { batchFor } from "./batch-for.ts";
import type { EngineContext, Settings } from "./context.ts";
import { refuseResults } from "./queue/after.ts";
import { enqueueTask } from "./queue/enqueue.ts";
import type { DoubtfulRun, Recovery } from "./recovery/recovery.ts";
import type { Driver } from "./runs/driver.ts";

const MAX_DESCRIPTION = 500;
export const MAX_PROMPT = 200_000;
const MAX_BATCH_NAME = 64;

/** The session that asks for something. */
export interface Caller {
  sessionId: string;
  messageId: string;
  agent: string;
  /** `provider/model` of the message that asks. */
  model: string | null;
  variant: string | null;
  /** The instance that handles the session; the one that launches when absent. */
  handler?: string;
}

/** A person: there is no session, so nobody is notified. */
export const PERSON: Caller = { sessionId: "", messageId: "", agent: "", model: null, variant: null };

export interface LaunchRequest {
  description: string;
  prompt: string;
  agent: string;
  fork: boolean;
  /** The session whose history a fork copies. The caller's own when absent. */
  forkOf?: string;
  batch: string | null;
  /** `provider/model`. When absent: the agent's own, or the caller's. */
  model?: string;
  /** The limits of its first run. Those of the settings when absent; an agent can only lower these. */
  limits?: RunLimits;
  /** Which ends start a turn of the caller. As in the settings when absent. */
  wake?: Wake;
  /** The tasks that it starts after. It starts at once when absent. */
  after?: After;
  /** What the task and everything below it may use. As in the settings when absent. */
  budget?: BudgetLimits;
  /**
   * Whether an agent asks for that, or somebody else who may not raise budgets: they get no more than the settings
   * give. A caller with a session is one.
   */
  isAgents?: boolean;
}

export interface ResumeRequest {
  prompt: string;
  /** The agent from this run on. The task's present agent when absent. */
  agent?: string;
  /** The queued follow-up that this is. It leaves the queue in the transaction that begins the run. */
  followUpId?: string;
  /** Which ended tasks may be resumed, besides completed ones. As in the settings when absent. */
  allow?: Settings["resumable"];
}

export class Launcher {
  readonly #context: EngineContext;
  readonly #driver: Driver;
  readonly #recovery: Pick<Recovery, "giveUp">;

  constructor(context: EngineContext, driver: Driver, recovery: Pick<Recovery, "giveUp">) {
    this.#context = context;
    this.#driver = driver;
    this.#recovery = recovery;
  }

  /** Checks a launch without creating anything. Returns the agent. */
  async check(caller: Caller, request: LaunchRequest): Promise<AgentInfo> {
    assertRequest(request);
    if (request.fork && !this.#context.host.fork) {
      throw new AsyncAgentsError("host_unsupported", `${this.#context.host.kind} cannot fork. Launch without fork.`);
    }
    if (request.fork && request.after !== undefined) {
      const message = "fork and after are mutually exclusive: a fork has the conversation of now. Give one of them.";
      throw new AsyncAgentsError("modes_exclusive", message);
    }
    const [agent, depth] = await Promise.all([this.agent(request.agent), this.depthOf(caller.sessionId)]);
    const { maxDepth } = this.#context.settings;
    if (depth >= maxDepth) {
      throw new AsyncAgentsError(
        "depth_exceeded",
        `A background task may not launch tasks at this depth (limit ${maxDepth}). Do the work yourself, or ask for a higher maxDepth.`,
      );
    }
    return agent;
  }

  /** Rejects an agent that the host does not have, and names those that it has. */
  async agent(name: string): Promise<AgentInfo> {
    requireName("agent", name);
    const agent = await this.#context.host.agent(name);
    if (agent) return agent;
    const known = (await this.#context.host.agents()).map((candidate) => candidate.name).join(", ");
    const what = name.trim() === "" ? "agent is missing" : `There is no agent "${name.slice(0, 100)}"`;
    throw new AsyncAgentsError("unknown_agent", `${what}. Known agents: ${known}.`);
  }

  /** Creates the task. Resolves when it is stored, before the agent has begun. */
  launch(caller: Caller, request: LaunchRequest, agent: AgentInfo): Promise<Task> {
    const { after } = request;
    if (after && after.tasks.length > 0) return this.#hold(caller, { ...request, after }, agent);
    return this.#driver.admit(async () => {
      await refuseResults(this.#context.store, request.prompt);
      return this.#driver.lull.during(() => this.#launch(caller, request, agent));
    });
  }

  /** Stores a task that starts later, in this folder, by whichever process has it open then. */
  #hold(caller: Caller, request: LaunchRequest & { after: After }, agent: AgentInfo): Promise<Task> {
    const { store, instance, settings, host, now, newId } = this.#context;
    const { directory, machine } = instance;
    const { description, prompt, batch, wake = settings.wake, after, budget, isAgents } = request;
    const limits = limitsOf(request, settings.limits);
    const { mostWaiting } = this.#driver;
    const held = {
      description,
      prompt,
      batch,
      limits,
      wake,
      after,
      host: host.kind,
      agent: agent.name,
      model: request.model ?? agent.model ?? caller.model,
      folder: { directory, repository: null, bound: null },
      isOnlyHere: true,
      choices: {},
      parent: caller.sessionId === "" ? null : this.#parentOf(caller),
      budgets: settings.budgets,
      ...(budget !== undefined && { budget }),
      ...(isAgents !== undefined && { isAgents }),
      ...(mostWaiting !== null && { mostWaiting }),
    };
    return enqueueTask({ store, machine, now, newId }, caller, held);
  }

  async #launch(caller: Caller, request: LaunchRequest, agent: AgentInfo): Promise<Task> {
    const { reach, settings } = this.#context;
    const launch = this.#launchOf(caller, request, agent);
    const run = { messageId: launch.messageId, launchId: launch.id, taskId: null };
    await this.#open(caller, request, launch).catch(this.#givingUp(run));
    const sessionId = await this.#makeSession(caller, request, launch).catch(this.#givingUp(run));
    reach("session-made");
    const stored = { ...run, taskId: sessionId };
    return this.#driver.beginning(sessionId, async () => {
      const created = await this.#unlessLost(this.#create(launch, sessionId), stored).catch(this.#givingUp(stored));
      if (!created.changed) return this.#givingUp(run)(notCreated(created.task, launch, sessionId));
      reach("row-written");
      this.#driver.begin(created.task, limitsOf(request, settings.limits));
      return created.task;
    });
  }

  /** Whatever failed, and however far it came: nothing of the run stays open. */
  #givingUp(run: DoubtfulRun): (thrown: unknown) => Promise<never> {
    return async (thrown) => {
      await this.#recovery.giveUp(run);
      throw thrown;
    };
  }

  async #open(caller: Caller, request: LaunchRequest, launch: Launch): Promise<void> {
    const { store, newId } = this.#context;
    await store.write(async (transaction) => {
      launch.batchId = await batchFor(transaction, caller, request.batch, () => newId("bat"));
      if (caller.sessionId !== "") await transaction.putParent(this.#parentOf(caller));
      // Before a session is made for it. What counts is the write that creates the task.
      await transaction.assertFits({ ...launch, sessionId: "" }, launch.at);
      await transaction.openLaunch(launch);
    });
  }

  #create({ id, owner: _owner, at: _at, ...task }: Launch, sessionId: string): Promise<Transition> {
    const { store, now, instance } = this.#context;
    return store.write(async (transaction) => {
      // Others took this process for dead and closed it: what it was for has been cleaned up, and the task that they
      // made of its session may have gone on since.
      if (!(await transaction.closeLaunch(id, instance.id))) throw launchClosed();
      const row = { ...task, id: sessionId, sessionId, owner: instance.id };
      return transaction.apply(sessionId, { type: "task.created", at: now(), task: row });
    });
  }

  resume(caller: Caller, task: Task, request: ResumeRequest): Promise<Task> {
    return this.#driver.admit(() => this.#resume(caller, task, request));
  }

  async #resume(caller: Caller, task: Task, request: ResumeRequest): Promise<Task> {
    requireText("prompt", request.prompt, MAX_PROMPT);
    await refuseResults(this.#context.store, request.prompt);
    const agent = request.agent === undefined ? undefined : (await this.agent(request.agent)).name;
    const { host, settings, instance } = this.#context;
    refuseResume(task, settings, request.allow);
    assertBegan(task);
    assertHere(task, instance.machine);
    if (!(await host.exists(task.sessionId))) {
      throw new AsyncAgentsError(
        "session_gone",
        `The session of task ${task.id} no longer exists, so it cannot be resumed. Start a new ${settings.launchTool} instead.`,
      );
    }
    return this.#driver.beginning(task.id, () => this.#beginResume(caller, task, { ...request, agent }));
  }

  async #beginResume(caller: Caller, task: Task, { agent, ...request }: ResumeRequest): Promise<Task> {
    const { prompt, followUpId } = request;
    const { store, host, now, settings, instance, reach } = this.#context;
    const messageId = host.newMessageId();
    const resuming = store.write(async (transaction) => {
      // The prompt leaves the queue in the transaction that makes it a run: it is neither lost nor run twice.
      if (followUpId !== undefined) {
        const isThere = await transaction.dequeueFollowUp(followUpId);
        // A run that began and ended meanwhile may have put the queue on hold; its end makes the queue look again.
        const now = await transaction.task(task.id);
        const isBehind = now !== null && !isLive(now.status) && now.run.number !== task.run.number;
        if (!isThere || isBehind) throw followUpGone();
      }
      const event = { type: "task.resumed", at: now(), prompt, messageId, owner: instance.id } as const;
      const allow = request.allow ?? settings.resumable;
      const applied = await transaction.apply(task.id, { ...event, allow, ...(agent !== undefined && { agent }) });
      if (caller.sessionId !== "") await transaction.putParent(this.#parentOf(caller));
      return applied;
    });
    const run = { messageId, taskId: task.id, launchId: null };
    const resumed = await this.#unlessLost(resuming, run).catch((thrown: unknown) => {
      if (isDoubtful(thrown)) return this.#givingUp(run)(thrown);
      throw thrown;
    });
    if (!resumed.changed) {
      refuseResume(resumed.task ?? task, settings, request.allow);
      throw new AsyncAgentsError("task_not_found", `Task ${task.id} no longer exists.`);
    }
    reach("row-written");
    this.#driver.begin(resumed.task);
    return resumed.task;
  }

  /** The result of the write that begins a run. If the store failed and has the run, only the answer was lost. */
  async #unlessLost(writing: Promise<Transition>, run: DoubtfulRun & { taskId: string }): Promise<Transition> {
    const { store, instance } = this.#context;
    try {
      return await writing;
    } catch (thrown) {
      const task = isDoubtful(thrown) ? await store.task(run.taskId).catch(() => null) : null;
      const isStored = task && isLive(task.status) && task.owner === instance.id;
      if (isStored && task.run.messageId === run.messageId) return { changed: true, task, notice: null };
      throw thrown;
    }
  }

  #launchOf(caller: Caller, request: LaunchRequest, agent: AgentInfo): Launch {
    const { host, instance, settings, now, newId } = this.#context;
    return {
      id: newId("lau"),
      owner: instance.id,
      at: now(),
      parentSessionId: caller.sessionId,
      parentMessageId: caller.messageId,
      parentAgent: caller.agent,
      host: host.kind,
      directory: instance.directory,
      description: request.description.trim(),
      prompt: request.prompt,
      messageId: host.newMessageId(),
      agent: agent.name,
      model: request.model ?? agent.model ?? caller.model,
      batchId: "",
      isForked: request.fork,
      machine: instance.machine,
      wake: request.wake ?? settings.wake,
      ...budgetsOf(settings.budgets, request, caller),
    };
  }

  async #makeSession(caller: Caller, request: LaunchRequest, launch: Launch): Promise<string> {
    const { host, settings } = this.#context;
    const input = {
      parentSessionId: caller.sessionId,
      parentAgent: caller.agent,
      title: launch.description,
      agent: launch.agent,
      model: launch.model,
      launchId: launch.id,
      denyTools: (await this.depthOf(caller.sessionId)) + 1 >= settings.maxDepth ? settings.ownTools : [],
    };
    try {
      if (!request.fork || !host.fork) return await host.start(input);
      const parentSessionId = request.forkOf ?? caller.sessionId;
      return await host.fork({ ...input, parentSessionId, untilMessageId: caller.messageId });
    } catch (thrown) {
      // Perhaps only the response was lost: then the session exists, with the mark of this launch.
      const made = isRefusal(thrown) ? null : await this.#madeBy(launch);
      if (made !== null) return made;
      throw thrown;
    }
  }

  async #madeBy({ id: launchId, parentSessionId, at }: Launch): Promise<string | null> {
    const { host } = this.#context;
    return (await host.findLaunched?.({ launchId, parentSessionId, at }).catch(() => null)) ?? null;
  }

  #parentOf(caller: Caller): Parent {
    const { instance, now } = this.#context;
    const { sessionId, agent, model, variant } = caller;
    const { host, machine, id } = instance;
    const { handler = id } = caller;
    return { sessionId, host, machine, handler, agent, model, variant, seenAt: now() };
  }

  /** 0 for a session that is not a task, 1 for a task and for what its agent opens by itself, and so on. */
  async depthOf(sessionId: string): Promise<number> {
    let depth = 0;
    // A person has no session, and so no task.
    const taskOf = async (id: string) =>
      id === "" ? null : this.#context.store.taskOfSession(this.#driver.rootOf(id));
    let current = await taskOf(sessionId);
    while (current && depth < 32) {
      depth++;
      current = await taskOf(current.parentSessionId);
    }
    return depth;
  }
}

/** The budgets that a launch brings: its own, and those of the settings. An agent gets no more than these. */
export function budgetsOf(
  defaults: NewBudgets,
  { budget: own, isAgents = false }: Pick<LaunchRequest, "budget" | "isAgents">,
  { sessionId }: Caller,
): { budgets?: NewBudgets } {
  const mayRaise = sessionId === "" && !isAgents;
  const task = own === undefined || mayRaise ? own : stricter(own, defaults.task ?? NO_LIMITS);
  const budgets = { ...defaults, ...(task !== undefined && { task }) };
  return Object.values(budgets).some((limits) => limits !== undefined) ? { budgets } : {};
}

/** Rejects what no host would accept. `host`: its name, if the caller gave one. */
export function assertRequest(
  request: Pick<LaunchRequest, "description" | "prompt" | "batch" | "model" | "agent"> & { host?: string },
): void {
  requireText("description", request.description, MAX_DESCRIPTION);
  requireText("prompt", request.prompt, MAX_PROMPT);
  requireName("agent", request.agent);
  requireName("host", request.host);
  if (request.batch !== null && !/^[\w.-]{1,64}$/.test(request.batch)) {
    const rule = `letters, digits, ".", "_" and "-", at most ${MAX_BATCH_NAME}`;
    throw new AsyncAgentsError(
      "invalid_input",
      `batch must be a short name (${rule}). Leave it out to join the open batch.`,
    );
  }
  requireModel(request.model);
}

export function requireText(name: string, text: string, limit: number): void {
  if (text.trim() === "") throw new AsyncAgentsError("invalid_input", `${name} is empty. Say what the task is about.`);
  if (text.length <= limit) return;
  const advice = "Shorten it, or put the text into a file and name the file.";
  throw new AsyncAgentsError(
    "invalid_input",
    `${name} has ${text.length} characters; at most ${limit} are allowed. ${advice}`,
  );
}

function requireName(field: string, name = ""): void {
  if (name.length <= MAX_NAME) return;
  const message = `${field} has ${name.length} characters; a name has at most ${MAX_NAME}.`;
  throw new AsyncAgentsError("invalid_input", message, { details: { field } });
}

function requireModel(model: string | undefined): void {
  requireName("model", model);
  if (model === undefined || splitModel(model) !== null) return;
  const message = `A model is named as provider/model, not ${JSON.stringify(model.slice(0, 100))}.`;
  throw new AsyncAgentsError("invalid_input", message, { details: { field: "model" } });
}

/** Whether a write that failed may have been stored all the same. */
function isDoubtful(thrown: unknown): boolean {
  return !AsyncAgentsError.isInstance(thrown) || thrown.code === "store_unavailable";
}

/** Its session has a task: of this launch, which others have recovered, or of another one. */
function notCreated(task: Task | null, { host, messageId }: Launch, sessionId: string): AsyncAgentsError {
  if (task?.run.messageId !== messageId) {
    return new AsyncAgentsError("internal", `${host} gave a session id twice: ${sessionId}`);
  }
  const why = "another process took this one for dead and recovered the launch";
  return new AsyncAgentsError("task_not_live", `Task ${task.id} ended before it began: ${why}. Launch it again.`);
}

function launchClosed(): AsyncAgentsError {
  const why = "another process took this one for dead and closed the launch";
  return new AsyncAgentsError("task_not_live", `The task was not started: ${why}. Launch it again.`);
}

function assertHere({ id, machine }: Task, own: string): void {
  if (isSameMachine(machine, own)) return;
  const message = `Task ${id} has its session on another machine. Resume it there; if that machine is gone, start a new task.`;
  throw new AsyncAgentsError("host_unavailable", message, { details: { machine } });
}

/** Rejects a task that ended in the queue: nothing of it can be continued. */
export function assertBegan({ id, sessionId }: Task): void {
  if (sessionId !== "") return;
  const message = `Task ${id} ended before a runner began it, so it has no session to continue. Launch it again.`;
  throw new AsyncAgentsError("session_gone", message);
}

function followUpGone(): AsyncAgentsError {
  return new AsyncAgentsError("follow_up_gone", "The follow-up is no longer queued: it was sent or cancelled.");
}

function refuseResume(task: Task, { resumable, launchTool }: Settings, allow = resumable): void {
  if (!isLive(task.status) && isResumable(task, allow)) return;
  const only = "Only completed tasks can be resumed";
  if (task.status === "resumed") {
    throw new AsyncAgentsError(
      "task_resuming",
      `Task ${task.id} is currently being resumed. Wait for its answer, then resume it again.`,
    );
  }
  if (task.status === "running") {
    throw new AsyncAgentsError(
      "task_running",
      `${only}; task ${task.id} is still running. Wait until it has completed.`,
    );
  }
  throw new AsyncAgentsError(
    "task_not_resumable",
    `${only}; task ${task.id} has status "${task.status}". Start a new ${launchTool} instead.`,
  );
}
