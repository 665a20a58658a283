/**
 * All tasks on the whole screen: the list at the left, the selected one at the right where there is room. The keys
 * belong to a mode of its own, so that they mean nothing elsewhere, nor while a dialog is open.
 */
import { TextAttributes } from "@opentui/core";
import { useTerminalDimensions } from "@opentui/solid";
import { type Accessor, createMemo, createSignal, For, onCleanup, Show } from "solid-js";
import { type PanelContext, SCREEN_ROUTE } from "../panel-context.ts";
import { countText, markOf, type PanelTask, timeOf, workOf } from "../panel-task.ts";
import { groupsOf } from "../task-groups.ts";
import { handler } from "./safe.tsx";
import { openTask } from "./task-dialog.tsx";
import { colourOf, TaskLine } from "./task-line.tsx";
import { openTasks } from "./task-list.tsx";
import { useWaitReason } from "./wait-reason.ts";

/** Below this width the list needs all of it. */
const WIDE = 100;
/** What is above and below the list. */
const FRAME_LINES = 4;
const PAGE = 10;

interface Heading {
  heading: string;
}

type Row = Heading | PanelTask;

export function TaskScreen(props: { panel: PanelContext; onBack(): void }) {
  const { api, state } = props.panel;
  const dimensions = useTerminalDimensions();
  const [selectedId, select] = createSignal<string | null>(null);
  const rows = createMemo<Row[]>(() => {
    const { needs, working, ended } = groupsOf(state().tasks);
    const group = (heading: string, tasks: readonly PanelTask[]): Row[] =>
      tasks.length === 0 ? [] : [{ heading: `${heading} (${tasks.length})` }, ...tasks];
    return [...group("Needs you", needs), ...group("At work", working), ...group("Ended", ended)];
  });
  const tasks = createMemo(() => rows().filter((row): row is PanelTask => "id" in row));
  const selected = createMemo(() => tasks().find(({ id }) => id === selectedId()) ?? tasks()[0]);
  const room = () => Math.max(3, dimensions().height - FRAME_LINES);
  const visible = createMemo(() => {
    const task = selected();
    const at = task ? rows().indexOf(task) : 0;
    const first = Math.max(0, Math.min(at - Math.floor(room() / 2), rows().length - room()));
    return rows().slice(first, first + room());
  });
  const move = (by: number) => {
    const task = selected();
    const at = task ? tasks().indexOf(task) + by : 0;
    select(tasks()[Math.max(0, Math.min(at, tasks().length - 1))]?.id ?? null);
  };
  useKeys(props.panel, { move, open: () => openSelected(props.panel, selected()), back: props.onBack });
  const isWide = () => dimensions().width >= WIDE;
  return (
    <box flexGrow={1} paddingLeft={2} paddingRight={2} paddingTop={1} gap={1}>
      <box flexDirection="row" justifyContent="space-between" height={1}>
        <text fg={api.theme.current.text} attributes={TextAttributes.BOLD}>
          {`Background tasks${state().isConnected ? "" : " (offline)"}`}
        </text>
        <text fg={api.theme.current.textMuted}>
          {[countText(state().tasks), "enter actions", "/ search", "esc back"].filter(Boolean).join("  ")}
        </text>
      </box>
      <box flexDirection="row" gap={3} flexGrow={1}>
        <box width={isWide() ? "45%" : "100%"}>
          <Show when={rows().length > 0} fallback={<text fg={api.theme.current.textMuted}>There are no tasks.</text>}>
            <For each={visible()}>
              {(row) => (
                <Show when={"id" in row ? row : undefined} fallback={<GroupHead panel={props.panel} row={row} />}>
                  {(task: Accessor<PanelTask>) => (
                    <box onMouseUp={() => select(task().id)}>
                      <TaskLine panel={props.panel} task={task()} isSelected={task().id === selected()?.id} />
                    </box>
                  )}
                </Show>
              )}
            </For>
          </Show>
        </box>
        <Show when={isWide() && selected()}>
          {(task: Accessor<PanelTask>) => <TaskFacts panel={props.panel} task={task()} />}
        </Show>
      </box>
    </box>
  );
}

function GroupHead(props: { panel: PanelContext; row: Row }) {
  return (
    <text fg={props.panel.api.theme.current.accent} attributes={TextAttributes.BOLD}>
      {"heading" in props.row ? props.row.heading : ""}
    </text>
  );
}

function TaskFacts(props: { panel: PanelContext; task: PanelTask }) {
  const { api, now } = props.panel;
  const waitsFor = useWaitReason(props.panel, () => props.task);
  const facts = () => [
    props.task.agent === "" ? props.task.host : `${props.task.agent} on ${props.task.host}`,
    props.task.place,
    ...(workOf(props.task) === "" ? [] : [workOf(props.task)]),
    props.task.id,
  ];
  return (
    <box flexGrow={1} flexShrink={1} gap={1}>
      <text fg={api.theme.current.text} attributes={TextAttributes.BOLD} wrapMode="word">
        {props.task.description}
      </text>
      <text fg={colourOf(props.panel, props.task)}>
        {`${markOf(props.task)} ${props.task.state} · ${timeOf(props.task, now())}`}
      </text>
      <Show when={props.task.request?.text ?? (props.task.error || waitsFor())}>
        {(text: Accessor<string>) => (
          <text fg={api.theme.current.text} wrapMode="word" maxHeight={12} overflow="hidden">
            {text()}
          </text>
        )}
      </Show>
      <box>
        <For each={facts()}>
          {(fact) => (
            <text fg={api.theme.current.textMuted} wrapMode="none" truncate>
              {fact}
            </text>
          )}
        </For>
      </box>
    </box>
  );
}

function openSelected(panel: PanelContext, task: PanelTask | undefined): void {
  if (task) openTask(panel, task.id);
}

interface Keys {
  move(by: number): void;
  open(): void;
  back(): void;
}

function useKeys(panel: PanelContext, { move, open, back }: Keys): void {
  const { api } = panel;
  const run = (work: () => void) => handler(panel, work);
  const commands = [
    { name: "asyncagents.screen.up", key: ["up", "k"], run: run(() => move(-1)) },
    { name: "asyncagents.screen.down", key: ["down", "j"], run: run(() => move(1)) },
    { name: "asyncagents.screen.page-up", key: ["pageup"], run: run(() => move(-PAGE)) },
    { name: "asyncagents.screen.page-down", key: ["pagedown"], run: run(() => move(PAGE)) },
    { name: "asyncagents.screen.open", key: ["return"], run: run(open) },
    { name: "asyncagents.screen.search", key: ["/"], run: run(() => openTasks(panel)) },
    { name: "asyncagents.screen.back", key: ["escape", "q"], run: run(back) },
  ];
  const leave = api.mode.push(SCREEN_ROUTE);
  const forget = api.keymap.registerLayer({
    mode: SCREEN_ROUTE,
    commands: commands.map(({ name, run: each }) => ({ name, run: each })),
    bindings: commands.flatMap(({ name, key }) => key.map((each) => ({ key: each, cmd: name }))),
  });
  onCleanup(() => {
    forget();
    leave();
  });
}
