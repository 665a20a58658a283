/**
 * The handlers that change a task. Each one finds the process that can do it, and calls its engine or forwards the
 * request to it. The rules are in the engine and the board.
 */
import { answerTask } from "../../board/answer-task.ts";
import { launchTask } from "../../board/launch-task.ts";
import { AsyncAgentsError } from "../../model/errors.ts";
import type { Task } from "../../model/task.ts";
import { type CallOrigin, isOwner, isPerson } from "../../protocol/call-origin.ts";
import type { ApiContext } from "../api-context.ts";
import { wireDetail, wireTask } from "../wire.ts";
import type { StatusHandlers } from "./status-handler.ts";

export const controlHandlers: StatusHandlers<"launch" | "cancel" | "resume" | "fork" | "tell" | "answer"> = {
  async launch(context, { input, request, origin }) {
    const { overview, desk, peers } = context;
    assertPerson(origin, "launch_task");
    const { description, prompt, agent = null, host = null, directory = null, batch = null } = input;
    if (batch !== null && (await overview.isAttempt(batch))) {
      const message = "batch is the id of an attempt, which has its own tasks. Use another name, or follow_up.";
      throw new AsyncAgentsError("invalid_input", message, { details: { parameters: ["batch"] } });
    }
    if (!isOwner(origin)) await assertWorkplace(context, namedPlace(host, directory), "launch", origin);
    const launch = { description, prompt, agent, host, directory, batch };
    const launched = await launchTask(desk, launch, () => peers.daemon());
    return "pid" in launched ? peers.forward(launched.pid, request, input) : wireTask(launched.task);
  },
  cancel: async ({ overview, desk }, { id }) => wireTask(await desk.cancel(await overview.task(id))),
  async resume(context, { input, request, id, origin }) {
    const { overview, desk, peers } = context;
    const task = await overview.task(id);
    await assertWorkplace(context, task, "resume", origin);
    const place = await desk.placeOfResume(task);
    if ("pid" in place) return peers.forward(place.pid, request, input);
    return wireTask(await place.engine.resumeTask(task, input));
  },
  async fork(context, { input, request, id, origin }) {
    const { overview, desk, peers } = context;
    const task = await overview.task(id);
    await assertWorkplace(context, task, "fork", origin);
    const place = await desk.placeOfResume(task);
    if ("pid" in place) return peers.forward(place.pid, request, input);
    const { prompt, description = task.description, agent = task.agent } = input;
    return wireTask(await desk.fork(place.engine, task, { prompt, description, agent }));
  },
  async tell({ overview, desk, peers }, { request, id }) {
    const task = await overview.task(id);
    const place = await desk.placeOfTelling(task);
    if ("pid" in place) return peers.forward(place.pid, request, {});
    await place.engine.tellAgain(task);
    return wireDetail(task, await overview.notice(id));
  },
  async answer({ overview, desk, peers }, { input, request, origin, id }) {
    const { requestId, via } = input;
    const reply = input.kind === "permission" ? { ...input, message: input.message ?? null } : input;
    const find = () => overview.task(id);
    const other = await answerTask(desk, find, { reply, requestId, via }, origin);
    return other === null ? wireTask(await find()) : peers.forward(other.pid, request, input);
  },
};

/** Models launch through the board, which knows where they may work and what they may use. */
function assertPerson(origin: CallOrigin, instead: string): void {
  if (isPerson(origin)) return;
  throw new AsyncAgentsError("not_allowed", `Only people can launch a task here. Agents use ${instead}.`);
}

/** What is not named could turn out to be a place that the caller may not use. */
function namedPlace(host: string | null, directory: string | null): Pick<Task, "host" | "directory"> {
  if (host !== null && directory !== null) return { host, directory };
  const message = "With this token a launch must name its host and its directory: add both, and try again.";
  throw new AsyncAgentsError("invalid_input", message, { details: { parameters: ["host", "directory"] } });
}

/** Continuing a task lets an agent work in its directory: what holds for a launch there holds for it too. */
async function assertWorkplace(
  { assertWorkplace: assert }: ApiContext,
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
