/**
 * One task as a dialog: what it asks or how it ended, and what a person can do about it. It shows the task as it was
 * when the dialog opened, so that a key is never for something that came in between; the server refuses an answer to a
 * request that is no longer open. Nobody allows what was not shown whole.
 */
import { useTerminalDimensions } from "@opentui/solid";
import { type JSX, onMount, Show } from "solid-js";
import { messageOf } from "../../model/errors.ts";
import type { PanelContext } from "../panel-context.ts";
import { beginning, detailOf, markOf, type PanelTask, timeOf } from "../panel-task.ts";
import { actionsOf, outcomeOf, type TaskAction } from "../task-actions.ts";
import { attempt, Safe } from "./safe.tsx";
import { colourOf } from "./task-line.tsx";
import { openText } from "./text-dialog.tsx";
import { useWaitReason } from "./wait-reason.ts";

/** Of the screen's rows, this share is for the text: the actions need theirs. */
const TEXT_SHARE = 4;
const LEAST_ROWS = 3;
const MOST_COLUMNS = 80;
/** OpenCode's dialog for typing is narrower. */
const TYPING_COLUMNS = 54;
/** What the dialog leaves at its sides. */
const MARGIN = 10;

interface Choice {
  title: string;
  value: string;
  onSelect(): void;
}

/** `read`: the request whose whole text was shown before. */
export function openTask(panel: PanelContext, id: string, options: { read?: string } = {}): void {
  const task = panel.state().tasks.find((each) => each.id === id);
  if (task === undefined) {
    panel.api.ui.toast({ message: "This task is no longer in the list.", variant: "warning" });
    return;
  }
  void leaveReceipt(panel, task);
  panel.api.ui.dialog.replace(() => (
    <Safe panel={panel}>
      <TaskDialog panel={panel} task={task} hasRead={task.request !== null && task.request.id === options.read} />
    </Safe>
  ));
}

/** A receipt that fails is no reason to disturb anybody. */
async function leaveReceipt(panel: PanelContext, { id, request }: PanelTask): Promise<void> {
  if (request === null || request.id === "") return;
  try {
    await panel.client().seen(id, { requestId: request.id, via: "panel" });
  } catch (thrown) {
    panel.log.info("a receipt was not left", { error: messageOf(thrown) });
  }
}

function TaskDialog(props: { panel: PanelContext; task: PanelTask; hasRead: boolean }) {
  const { panel, task } = props;
  const { api, now } = panel;
  onMount(() => api.ui.dialog.setSize("large"));
  const text = task.request?.text ?? detailOf(task);
  const room = useRoom(MOST_COLUMNS);
  const shown = beginning(text, room);
  const waitsFor = useWaitReason(panel, () => task);
  const below = () => beginning(waitsFor(), room) ?? waitsFor();
  const facts = () =>
    [`${markOf(task)} ${task.state}`, timeOf(task, now()), task.agent, task.place].filter(Boolean).join(" · ");
  return (
    <box>
      <box paddingLeft={4} paddingRight={4} paddingBottom={1}>
        <text fg={colourOf(panel, task)} wrapMode="none" truncate>
          {facts()}
        </text>
        <Show when={text !== ""}>
          <text fg={api.theme.current.text} wrapMode="word">
            {shown ?? text}
          </text>
        </Show>
        <Show when={below() !== ""}>
          <text fg={api.theme.current.text} wrapMode="word">
            {below()}
          </text>
        </Show>
      </box>
      <api.ui.DialogSelect
        title={task.description}
        options={choicesOf(panel, task, shown !== null && !props.hasRead)}
      />
    </box>
  );
}

/** What a text may take of the screen as it is now. */
function useRoom(mostColumns: number): { columns: number; rows: number } {
  const { width, height } = useTerminalDimensions()();
  const columns = Math.max(1, Math.min(mostColumns, width - MARGIN));
  return { columns, rows: Math.max(LEAST_ROWS, Math.floor(height / TEXT_SHARE)) };
}

function choicesOf(panel: PanelContext, task: PanelTask, mustRead: boolean): Choice[] {
  const { api } = panel;
  const choice = (title: string, onSelect: () => void): Choice => ({ title, value: title, onSelect });
  const actions = actionsOf(task).map((action) =>
    action.allows && mustRead ? null : choice(action.title, () => perform(panel, task, action)),
  );
  const text = task.request?.text ?? "";
  const read = choice("Read all of it", () => {
    openText(panel, {
      title: task.description,
      text,
      onClose: () => openTask(panel, task.id, { read: task.request?.id ?? "" }),
    });
  });
  const result = choice("Read the result", () => readResult(panel, task));
  const open = choice("Open its session", () => {
    api.ui.dialog.clear();
    api.route.navigate("session", { sessionID: task.sessionId });
  });
  return [
    ...(mustRead && text !== "" ? [read] : []),
    ...(task.isLive ? [] : [result]),
    ...actions.filter((each) => each !== null),
    ...(task.host === "opencode" && task.sessionId !== "" ? [open] : []),
  ];
}

/** A long question leaves room for what is typed: the dialog before it showed the rest. */
function TypingDialog(props: { panel: PanelContext; title: string; asked: string; onConfirm(value: string): void }) {
  const { api } = props.panel;
  const shown = beginning(props.asked, useRoom(TYPING_COLUMNS)) ?? props.asked;
  const description = () => (<text fg={api.theme.current.textMuted}>{shown}</text>) as JSX.Element;
  return (
    <api.ui.DialogPrompt title={props.title} description={description} placeholder="" onConfirm={props.onConfirm} />
  );
}

/** Asks for what the action needs, then does it. */
function perform(panel: PanelContext, task: PanelTask, action: TaskAction, given: readonly string[] = []): void {
  const { api } = panel;
  const { confirms } = action;
  const asked = action.asks[given.length];
  const done = () => {
    api.ui.dialog.clear();
    void attempt(panel, () => action.run(panel.client(), given));
  };
  if (asked !== undefined) {
    const enter = (value: string) => {
      if (value.trim() !== "") perform(panel, task, action, [...given, value.trim()]);
    };
    api.ui.dialog.replace(() => (
      <Safe panel={panel}>
        <TypingDialog panel={panel} title={action.title} asked={asked} onConfirm={enter} />
      </Safe>
    ));
  } else if (confirms !== undefined) {
    api.ui.dialog.replace(() => (
      <Safe panel={panel}>
        <api.ui.DialogConfirm title={confirms} message={task.description} onConfirm={done} />
      </Safe>
    ));
  } else done();
}

function readResult(panel: PanelContext, task: PanelTask): void {
  void attempt(panel, async () => {
    const text = await outcomeOf(panel.client(), task.id);
    openText(panel, { title: task.description, text });
    return null;
  });
}
