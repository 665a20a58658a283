/**
 * The handlers that change a task. Each one finds the process that can do it, and calls its engine or forwards the
 * request to it. The rules are in the engine and the board.
 */
import { answerTask } from "../../board/answer-task.ts";
import { launchTask } from "../../board/launch-task.ts";
import { wireDetail, wireTask } from "../wire.ts";
import type { StatusHandlers } from "./status-handler.ts";

export const controlHandlers: StatusHandlers<"launch" | "cancel" | "resume" | "fork" | "tell" | "answer"> = {
  async launch({ desk, peers }, { input, request }) {
    const { description, prompt, agent = null, host = null, directory = null, batch = null } = input;
    const launch = { description, prompt, agent, host, directory, batch };
    const launched = await launchTask(desk, launch, () => peers.daemon());
    return "pid" in launched ? peers.forward(launched.pid, request, input) : wireTask(launched.task);
  },
  cancel: async ({ overview, desk }, { id }) => wireTask(await desk.cancel(await overview.task(id))),
  async resume({ overview, desk, peers }, { input, request, id }) {
    const task = await overview.task(id);
    const place = await desk.placeOfResume(task);
    if ("pid" in place) return peers.forward(place.pid, request, input);
    return wireTask(await place.engine.resumeTask(task, input));
  },
  async fork({ overview, desk, peers }, { input, request, id }) {
    const task = await overview.task(id);
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
