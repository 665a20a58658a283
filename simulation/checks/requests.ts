/**
 * People answer what agents ask, once everything is calm. They know only what the store shows: a request that it does
 * not show for a while, or one that it still shows after it was answered, is a broken promise.
 */
import { isLive, type Task } from "../../src/model/task.ts";
import type { Stage } from "../scenario/stage.ts";

/** How often somebody looks before it took too long. */
const LOOKS = 6;

export class Requests {
  /** How often each was found hidden, or shown in vain. */
  readonly #found = new Map<string, number>();

  async look({ machine, truth, promises }: Stage): Promise<void> {
    const open = machine.hosts.flatMap(({ program }) => program.requests().map((request) => ({ program, request })));
    const { tasks } = await truth.tasks({ status: ["running", "resumed"], limit: 200 });
    const bySession = new Map(tasks.map((task) => [task.sessionId, task]));
    for (const { program, request } of open) {
      const task = bySession.get(request.sessionId);
      if (task && isOfItsRun(task, request.requestId) && !isShown(task)) {
        if (!this.#isTooLong(`hidden ${request.requestId}`)) continue;
        promises.broken.push(`${request.requestId} of ${task.id} was asked, and nobody was shown it (${task.phase})`);
      }
      program.answer(request.requestId, { kind: "permission", decision: "once", message: null });
    }
    const ids = new Set(open.map(({ request }) => request.requestId));
    for (const { id, owner, phaseDetail } of tasks) {
      if (phaseDetail?.kind !== "waiting" || ids.has(phaseDetail.requestId)) continue;
      // Its agent died with its process: when others must have taken it over is checked on its own.
      if (machine.instances.get(owner ?? "")?.isAlive === false) continue;
      const { requestId } = phaseDetail;
      if (this.#isTooLong(`shown ${requestId}`))
        promises.broken.push(`${requestId} of ${id} was answered, and is still shown`);
    }
  }

  #isTooLong(key: string): boolean {
    const times = (this.#found.get(key) ?? 0) + 1;
    this.#found.set(key, times);
    return times === LOOKS;
  }
}

/** Another prompt in the same session may ask as well; that is not for the run. */
function isOfItsRun({ run, status }: Task, requestId: string): boolean {
  return isLive(status) && requestId.startsWith(`per_${run.messageId}_`);
}

function isShown({ phaseDetail }: Task): boolean {
  return phaseDetail?.kind === "waiting";
}
