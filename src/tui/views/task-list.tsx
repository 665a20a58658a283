/** The list of all tasks as a dialog, with OpenCode's own search: what needs a person, what is at work, what ended. */
import { basename } from "node:path";
import type { TuiDialogSelectOption } from "@opencode-ai/plugin/tui";
import { createMemo, type JSX, onMount } from "solid-js";
import type { PanelContext } from "../panel-context.ts";
import { countText, detailOf, markOf, type PanelTask, timeOf } from "../panel-task.ts";
import { groupsOf } from "../task-groups.ts";
import { Safe } from "./safe.tsx";
import { openTask } from "./task-dialog.tsx";

export function openTasks(panel: PanelContext): void {
  panel.api.ui.dialog.replace(() => (
    <Safe panel={panel}>
      <TaskList panel={panel} />
    </Safe>
  ));
}

function TaskList(props: { panel: PanelContext }) {
  const { api, state } = props.panel;
  onMount(() => api.ui.dialog.setSize("large"));
  // The same object for the same task, so that only what changed is drawn anew.
  const made = new WeakMap<PanelTask, TuiDialogSelectOption<string>>();
  const option = (task: PanelTask, category: string) => {
    const known = made.get(task) ?? optionOf(props.panel, task, category);
    made.set(task, known);
    return known;
  };
  const options = createMemo(() => {
    const { needs, working, ended } = groupsOf(state().tasks);
    return [
      ...needs.map((task) => option(task, "Needs you")),
      ...working.map((task) => option(task, "At work")),
      ...ended.map((task) => option(task, "Ended")),
    ];
  });
  const title = () => (state().isConnected ? "Background tasks" : "Background tasks (offline)");
  return (
    <api.ui.DialogSelect
      title={title()}
      placeholder={countText(state().tasks) || "Search"}
      options={options()}
      onSelect={({ value }) => openTask(props.panel, value)}
    />
  );
}

function optionOf({ api, now }: PanelContext, task: PanelTask, category: string): TuiDialogSelectOption<string> {
  const isElsewhere = task.directory !== api.state.path.directory;
  const place = isElsewhere ? `${basename(task.place)} · ` : "";
  // A function, so that the time ticks without a new row.
  const footer = (() => timeOf(task, now())) as unknown as JSX.Element;
  const title = `${markOf(task)} ${task.description}`;
  return { title, value: task.id, description: `${place}${detailOf(task)}`, footer, category };
}
