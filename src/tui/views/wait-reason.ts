/**
 * Why the shown task still waits for a runner. The stream of changes has no such reasons, since they change with every
 * runner: it is asked for when a task is looked at. A reason that cannot be read is not shown.
 */
import { type Accessor, createEffect, createMemo, createSignal, on } from "solid-js";
import { messageOf } from "../../model/errors.ts";
import type { PanelContext } from "../panel-context.ts";
import { awaitsRunner, type PanelTask } from "../panel-task.ts";
import { waitReasonOf } from "../task-actions.ts";

export function useWaitReason(panel: PanelContext, task: Accessor<PanelTask>): Accessor<string> {
  const [reason, tell] = createSignal("");
  const waiting = createMemo(() => (awaitsRunner(task()) ? task().id : ""));
  const ask = async (id: string) => {
    try {
      const found = await waitReasonOf(panel.client(), id);
      if (waiting() === id) tell(found);
    } catch (thrown) {
      panel.log.info("why a task waits could not be read", { error: messageOf(thrown) });
    }
  };
  createEffect(
    on(waiting, (id) => {
      tell("");
      if (id !== "") void ask(id);
    }),
  );
  return reason;
}
