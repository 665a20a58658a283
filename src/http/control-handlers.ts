/**
 * The handlers that change something about a task: each finds the process that can, calls its engine there, or forwards
 * the request to it. Rules live in the engine.
 */
import type { Desk, Place } from "../engine/desk.ts";
import { AsyncAgentsError } from "../model/errors.ts";
import { isPerson } from "../protocol/call-origin.ts";
import type { Peers } from "./peers.ts";
import type { StatusHandlers } from "./status-handler.ts";
import { wireDetail, wireTask } from "./wire.ts";

export const controlHandlers: StatusHandlers<"launch" | "cancel" | "resume" | "fork" | "tell" | "answer"> = {
  async launch({ desk, peers }, { input, request }) {
    const { directory = null, host = null, batch = null, agent, ...rest } = input;
    const place = await placeOfLaunch(desk, peers, { directory, host });
    if ("pid" in place) return peers.forward(place.pid, request, input);
    const launched = { ...rest, batch, agent: agent ?? place.engine.defaultAgent };
    return wireTask(await desk.launch(place.engine, launched));
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
    if (input.kind === "permission" && !isPerson(origin)) {
      throw new AsyncAgentsError("not_allowed", "Only a person may answer a permission, and not an agent.");
    }
    const task = await overview.task(id);
    const place = await desk.placeOfAnswer(task, input.requestId);
    if ("pid" in place) return peers.forward(place.pid, request, input);
    const reply = input.kind === "permission" ? { ...input, message: input.message ?? null } : input;
    await place.engine.answerTask(task, reply, input.requestId, input.via ?? "api");
    return wireTask(await overview.task(id));
  },
};

/** Where no engine of this process can, the daemon may: it starts hosts itself. */
async function placeOfLaunch(
  desk: Desk,
  peers: Peers,
  { directory, host }: { directory: string | null; host: string | null },
): Promise<Place> {
  try {
    return await desk.placeOfLaunch(directory, host);
  } catch (thrown) {
    const daemon = peers.daemon();
    const isElsewhere = AsyncAgentsError.isInstance(thrown) && thrown.code === "host_unavailable";
    if (!isElsewhere || daemon === null || daemon === process.pid) throw thrown;
    return { pid: daemon };
  }
}
