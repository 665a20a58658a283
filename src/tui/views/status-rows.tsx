/**
 * The panel where there is no sidebar: the count at the prompt, and a row in the session of a task, which has neither a
 * sidebar nor a prompt.
 */
import { type Accessor, createMemo, Show } from "solid-js";
import { currentRoute, keyOf, type PanelContext, TASKS_COMMAND } from "../panel-context.ts";
import { countText, markOf, needsYou, type PanelTask, timeOf, workOf } from "../panel-task.ts";
import { tasksOf } from "../task-groups.ts";
import { openTask } from "./task-dialog.tsx";
import { colourOf } from "./task-line.tsx";
import { openTasks } from "./task-list.tsx";

/** Of one session, or of all tasks on the home screen. */
export function Count(props: { panel: PanelContext; sessionId: string | null }) {
  const { api, state } = props.panel;
  const tasks = createMemo(() => {
    const { sessionId } = props;
    return sessionId === null ? state().tasks : tasksOf(state().tasks, sessionId);
  });
  const text = createMemo(() => countText(tasks()));
  const colour = () => (tasks().some(needsYou) ? api.theme.current.warning : api.theme.current.textMuted);
  return (
    <Show when={text() !== ""}>
      <text fg={colour()} wrapMode="none" onMouseUp={() => openTasks(props.panel)}>
        {`● ${text()}`}
      </text>
    </Show>
  );
}

/** What the task of the session that is open does, and the way back. */
export function TaskRow(props: { panel: PanelContext }) {
  const { api, state, now } = props.panel;
  const task = createMemo(() => {
    const { name, params } = currentRoute(props.panel);
    if (name !== "session") return undefined;
    return state().tasks.find(({ sessionId }) => sessionId !== "" && sessionId === params?.sessionID);
  });
  const back = (parent: string) => (parent === "" ? "" : "up parent");
  const keys = (parent: string) => [back(parent), `${keyOf(props.panel, TASKS_COMMAND) || "/tasks"} tasks`];
  return (
    <Show when={task()}>
      {(shown: Accessor<PanelTask>) => (
        <box flexDirection="row" gap={2} paddingLeft={2} paddingRight={2} height={1}>
          <text flexShrink={0} fg={colourOf(props.panel, shown())} onMouseUp={() => openTask(props.panel, shown().id)}>
            {[`${markOf(shown())} ${shown().state}`, timeOf(shown(), now()), workOf(shown())]
              .filter(Boolean)
              .join(" · ")}
          </text>
          <text flexGrow={1} flexShrink={1} wrapMode="none" truncate fg={api.theme.current.text}>
            {shown().description}
          </text>
          <text flexShrink={0} fg={api.theme.current.textMuted}>
            {keys(shown().parentSessionId).filter(Boolean).join("  ")}
          </text>
        </box>
      )}
    </Show>
  );
}
