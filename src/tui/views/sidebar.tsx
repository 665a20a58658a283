/**
 * The tasks of a session in the sidebar, above Todo: what needs a person first, with what is asked. Nothing at all in a
 * session without tasks. A click on the head folds it; OpenCode remembers that.
 */
import { createMemo, createSignal, For, Show } from "solid-js";
import type { PanelContext } from "../panel-context.ts";
import { detailOf, needsYou, type PanelTask } from "../panel-task.ts";
import { groupsOf, shownInSidebar, tasksOf } from "../task-groups.ts";
import { openTask } from "./task-dialog.tsx";
import { TaskLine } from "./task-line.tsx";

const FOLDED = "asyncagents.folded";

export function Sidebar(props: { panel: PanelContext; sessionId: string }) {
  const { api, state } = props.panel;
  const [isFolded, setFolded] = createSignal(api.kv.get(FOLDED, false));
  const groups = createMemo(() => groupsOf(tasksOf(state().tasks, props.sessionId)));
  const view = createMemo(() => shownInSidebar(groups()));
  const live = () => groups().needs.length + groups().working.length;
  const counts = () =>
    [
      ...(state().isConnected ? [] : ["offline"]),
      ...(live() > 0 ? [`${live()} live`] : []),
      ...(groups().ended.length > 0 ? [`${groups().ended.length} ended`] : []),
    ].join(" · ");
  const fold = () => {
    setFolded(!isFolded());
    api.kv.set(FOLDED, isFolded());
  };
  return (
    <Show when={view().shown.length > 0}>
      <box flexDirection="row" gap={1} onMouseUp={fold}>
        <text fg={api.theme.current.text} flexShrink={0}>
          {isFolded() ? "▶" : "▼"}
        </text>
        <text fg={api.theme.current.text} flexGrow={1}>
          <b>Tasks</b>
        </text>
        <text fg={api.theme.current.textMuted} flexShrink={0}>
          {counts()}
        </text>
      </box>
      <Show when={!isFolded()}>
        <For each={view().shown}>{(task) => <SidebarTask panel={props.panel} task={task} />}</For>
        <Show when={view().more > 0}>
          <text fg={api.theme.current.textMuted} wrapMode="none">
            {`  ${view().more} more · /tasks`}
          </text>
        </Show>
      </Show>
    </Show>
  );
}

function SidebarTask(props: { panel: PanelContext; task: PanelTask }) {
  const { api } = props.panel;
  const detail = () => detailOf(props.task);
  const colour = () => (needsYou(props.task) ? api.theme.current.warning : api.theme.current.textMuted);
  // An ended task takes one line, unless it has to say why it failed.
  const hasDetail = () => detail() !== "" && (props.task.isLive || props.task.error !== "");
  return (
    <box onMouseUp={() => openTask(props.panel, props.task.id)}>
      <TaskLine panel={props.panel} task={props.task} />
      <Show when={hasDetail()}>
        <box paddingLeft={2} height={1}>
          <text fg={colour()} wrapMode="none" truncate>
            {detail()}
          </text>
        </box>
      </Show>
    </box>
  );
}
