/**
 * The handlers that change a task. Each one finds the engine or the instance that can do it, and calls or asks it. The
 * rules are in the engine and the board.
 */
import { answerTask } from "../../board/answer-task.ts";
import { folderOf, launchTask, type QueuedLaunch, queueTask } from "../../board/launch-task.ts";
import { afterOf } from "../../engine/queue/after.ts";
import { requireBudget } from "../../model/budgets/budget-text.ts";
import { AsyncAgentsError } from "../../model/errors.ts";
import { isLive, type Task } from "../../model/task.ts";
import { type CallOrigin, callerName, isOwner, isPerson, mayRaiseBudgets } from "../../protocol/call-origin.ts";
import type { BackgroundTask, LaunchBody } from "../../protocol/tasks.ts";
import type { OperationContext } from "../api-context.ts";
import { wireDetail, wireSteering, wireTask, withQueuePlace } from "../wire.ts";
import type { RemoteHandlers, StatusCall, StatusHandlers } from "./status-handler.ts";

/** Those that the process which is asked performs itself, whoever drives the task. */
export const ownHandlers: StatusHandlers<"cancel" | "remove" | "attach"> = {
  async cancel({ overview, desk }, { id, origin }) {
    return wireTask(await desk.cancel(await overview.task(id), { mayOpen: isOwner(origin) }));
  },
  async remove({ overview, desk }, { id, origin }) {
    if (!isPerson(origin)) throw new AsyncAgentsError("not_allowed", "Only people can remove a task.");
    return { id, removed: await desk.remove(await overview.task(id)) };
  },
  async attach({ overview, desk }, { id, origin }) {
    if (!isPerson(origin)) throw new AsyncAgentsError("not_allowed", "Only people can open a session.");
    const task = await overview.task(id);
    const { program, arguments: words, environment } = await desk.attach(task);
    const { directory, status } = task;
    return { program, arguments: [...words], environment: { ...environment }, directory, live: isLive(status) };
  },
};

/** Programs that poll are no readers: only people leave receipts. */
export const receiptHandlers: StatusHandlers<"seen" | "read"> = {
  async seen({ overview, desk }, { id, input: { requestId, via = "api" }, origin }) {
    assertReader(origin);
    return wireTask(await desk.see(await overview.task(id), requestId, via));
  },
  async read({ overview, desk }, { id, origin }) {
    assertReader(origin);
    return wireTask(await desk.markRead(await overview.task(id)));
  },
};

/** The store has what waits to start: any process changes it. */
export const editHandlers: StatusHandlers<"edit"> = {
  async edit(context, { id, input, origin }) {
    const { overview, desk } = context;
    const task = await overview.task(id);
    await assertWorkplace(context, task, "edit", origin);
    const edited = await desk.edit(task, input, { isOwner: isOwner(origin) });
    return withQueuePlace(wireTask(edited), (await desk.queuePlaces([edited])).get(id));
  },
};

/** The store has what is said to a run: any process accepts it, and the one that drives the run sends it. */
export const steeringHandlers: StatusHandlers<"steer" | "cancelSteering"> = {
  async steer(context, { id, input, origin, request }) {
    const task = await context.overview.task(id);
    await assertWorkplace(context, task, "steer", origin);
    const said = { text: input.text, by: callerName(origin) };
    const wait = { timeout: input.waitMs ?? 0, signal: request.signal };
    return wireSteering(await context.desk.steer(task, said, { ...wait, isOwner: isOwner(origin) }));
  },
  cancelSteering: async ({ desk }, { id, origin }) =>
    wireSteering(await desk.cancelSteering(id, callerName(origin), { isOwner: isOwner(origin) })),
};

export const controlHandlers: RemoteHandlers<"launch" | "resume" | "fork" | "tell" | "answer"> = {
  async launch(context, call) {
    const { overview, desk, remote } = context;
    const { origin } = call;
    assertPerson(origin, "launch_task");
    const { description, prompt, agent = null, host = null, directory = null, batch = null } = call.input;
    if (batch !== null && (await overview.isAttempt(batch))) {
      const message = "batch is the id of an attempt, which has its own tasks. Use another name, or follow_up.";
      throw new AsyncAgentsError("invalid_input", message, { details: { parameters: ["batch"] } });
    }
    const place = isOwner(origin) ? { host, directory } : await allowedPlace(context, { host, directory }, origin);
    const after = call.input.after && { after: afterOf(call.input.after, call.input.ifFailed) };
    const budget = call.input.budget === undefined ? {} : { budget: requireBudget(call.input.budget) };
    const isAgents = !mayRaiseBudgets(origin);
    const launch = { description, prompt, agent, ...place, batch, ...after, ...budget, isAgents };
    if (call.input.worktree === true) return launchInWorktree(context, call, launch);
    if (call.input.queue !== undefined) {
      const { task } = await queueTask(desk, queuedLaunch(launch, call.input), origin);
      return withQueuePlace(wireTask(task), (await desk.queuePlaces([task])).get(task.id));
    }
    const launched = await launchTask(desk, launch, () => remote.daemon());
    return "instance" in launched ? remote.call(launched.instance, "launch", call) : wireTask(launched.task);
  },
  async resume(context, call) {
    const { overview, desk, remote } = context;
    const task = await overview.task(call.id);
    await assertWorkplace(context, task, "resume", call.origin);
    const place = await desk.placeOfResume(task);
    if ("instance" in place) return remote.call(place.instance, "resume", call);
    return wireTask(await place.engine.resumeTask(task, call.input));
  },
  async fork(context, call) {
    const { overview, desk, remote } = context;
    const task = await overview.task(call.id);
    await assertWorkplace(context, task, "fork", call.origin);
    const place = await desk.placeOfResume(task);
    if ("instance" in place) return remote.call(place.instance, "fork", call);
    const { prompt, description = task.description, agent = task.agent } = call.input;
    return wireTask(await desk.fork(place.engine, task, { prompt, description, agent }));
  },
  async tell({ overview, desk, remote }, call) {
    const task = await overview.task(call.id);
    if (!(await desk.tellClient(task))) {
      const place = await desk.placeOfTelling(task, { mayOpen: isOwner(call.origin) });
      if ("instance" in place) return remote.call(place.instance, "tell", call);
      await place.engine.tellAgain(task);
    }
    return wireDetail(task, await overview.notice(call.id), await overview.course(task));
  },
  async answer({ overview, desk, remote }, call) {
    const { id, input, origin } = call;
    const { requestId, via } = input;
    const reply = input.kind === "permission" ? { ...input, message: input.message ?? null } : input;
    const find = () => overview.task(id);
    const other = await answerTask(desk, find, { reply, requestId, via }, origin);
    return other === null ? wireTask(await find()) : remote.call(other, "answer", call);
  },
};

/** By a process that opens hosts itself: this one, or else the daemon. */
async function launchInWorktree(
  context: OperationContext,
  call: StatusCall<"launch">,
  { host, directory, ...launch }: Parameters<typeof launchTask>[1],
): Promise<BackgroundTask> {
  const { desk, remote, taskWorktrees } = context;
  if (call.input.queue !== undefined || call.input.after !== undefined || directory === null) {
    const message = "worktree needs the directory of a repository, and excludes queue and after.";
    throw new AsyncAgentsError("invalid_input", message, {
      details: { parameters: ["worktree", "directory", "queue", "after"] },
    });
  }
  if (!taskWorktrees || !desk.opensHosts) {
    const daemon = await remote.daemon();
    if (daemon !== null) return remote.call(daemon, "launch", call);
    throw new AsyncAgentsError(
      "daemon_unavailable",
      "A launch with worktree needs the daemon. Start it: asyncagents up",
    );
  }
  const place = { id: crypto.randomUUID(), name: launch.description, directory: folderOf(directory) };
  const mayUse = (repo: CheckedRepo) => assertRepo(context, repo, "launch", call.origin);
  return taskWorktrees.launch({ ...place, mayUse }, async (worktree) => {
    const wanted = { ...launch, host: host ?? "opencode", directory: worktree.directory };
    const launched = await launchTask(desk, wanted, async () => null);
    if ("task" in launched) return wireTask(launched.task);
    throw new AsyncAgentsError("host_unavailable", "Another program works in the new worktree. Try again.");
  });
}

/** A queued task needs a folder, because nobody here serves it. */
function queuedLaunch(
  launch: Pick<QueuedLaunch, "description" | "prompt" | "agent" | "batch" | "after" | "budget" | "isAgents"> & {
    host: string | null;
    directory: string | null;
  },
  { queue = {}, model }: Pick<LaunchBody, "queue" | "model">,
): QueuedLaunch {
  const { host, directory, ...rest } = launch;
  if (directory === null) {
    const message = "directory is missing: a queued task needs the absolute path of the folder to work in.";
    throw new AsyncAgentsError("invalid_input", message, { details: { parameter: "directory" } });
  }
  return { ...rest, host: host ?? "opencode", directory, choices: queue, ...(model !== undefined && { model }) };
}

function assertReader(origin: CallOrigin): void {
  if (!isPerson(origin)) throw new AsyncAgentsError("not_allowed", "Only a person can have seen it, and not an agent.");
}

/** Models launch through the board, which knows where they may work and what they may use. */
function assertPerson(origin: CallOrigin, instead: string): void {
  if (isPerson(origin)) return;
  throw new AsyncAgentsError("not_allowed", `Only people can launch a task here. Agents use ${instead}.`);
}

/**
 * What is not named could turn out to be a place that the caller may not use. Returns the real path that was checked;
 * a folder that does not exist is not worth a person's time.
 */
async function allowedPlace(
  context: OperationContext,
  { host, directory }: { host: string | null; directory: string | null },
  origin: CallOrigin,
): Promise<Pick<Task, "host" | "directory">> {
  if (host !== null && directory !== null) {
    const place = { host, directory: folderOf(directory) };
    await assertWorkplace(context, place, "launch", origin);
    return place;
  }
  const message = "With this token a launch must name its host and its directory: add both, and try again.";
  throw new AsyncAgentsError("invalid_input", message, { details: { parameters: ["host", "directory"] } });
}

type CheckedRepo = Parameters<NonNullable<OperationContext["assertRepo"]>>[0];

/** A folder that may be used can refer to a repository that may not. */
async function assertRepo(
  { assertRepo: assert }: OperationContext,
  repo: CheckedRepo,
  operation: string,
  origin: CallOrigin,
): Promise<void> {
  if (isOwner(origin)) return;
  if (assert === null) throw new AsyncAgentsError("not_allowed", "Only the owner can launch with worktree here.");
  await assert(repo, operation, origin);
}

/** Continuing a task lets an agent work in its directory: what holds for a launch there holds for it too. */
async function assertWorkplace(
  { assertWorkplace: assert }: OperationContext,
  { host, directory }: Pick<Task, "host" | "directory">,
  operation: string,
  origin: CallOrigin,
): Promise<void> {
  if (isOwner(origin)) return;
  if (assert === null) {
    throw new AsyncAgentsError("not_allowed", "Only people can do this here. Agents ask the daemon.");
  }
  await assert({ host, directory }, operation, origin);
}
