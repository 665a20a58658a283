/**
 * The module that OpenCode's terminal screen loads: background tasks in its sidebar, at its prompt, in a list and on
 * the whole screen. It returns at once, because OpenCode waits for it, and connects in the background. It prints
 * nothing; what goes wrong is in the log of the data folder. The build compiles it into one file.
 */
import type { TuiPlugin, TuiPluginApi } from "@opencode-ai/plugin/tui";
import { createSignal } from "solid-js";
import { messageOf } from "../model/errors.ts";
import { openLog, storageDirectory } from "../process/data-folder.ts";
import { isPanelKnown, notePanel } from "../process/panel-mark.ts";
import { findServer } from "./find-server.ts";
import { currentRoute, type PanelContext, SCREEN_COMMAND, SCREEN_ROUTE, TASKS_COMMAND } from "./panel-context.ts";
import { type PanelOptions, panelOptions } from "./panel-options.ts";
import { type FeedState, TaskFeed } from "./task-feed.ts";
import { handler, Safe } from "./views/safe.tsx";
import { Sidebar } from "./views/sidebar.tsx";
import { Count, TaskRow } from "./views/status-rows.tsx";
import { openTasks } from "./views/task-list.tsx";
import { TaskScreen } from "./views/task-screen.tsx";

/** OpenCode's own parts of the sidebar have 300 (LSP) and 400 (Todo). */
const ABOVE_TODO = 350;
const TICK_MS = 1000;

const tui: TuiPlugin = async (api, given) => {
  // Versions before 1.14.42 have no keymap. There, nothing is better than half a panel.
  if (!api.keymap) return;
  const directory = storageDirectory();
  const log = openLog(directory);
  try {
    const options = panelOptions(given);
    const panel = connect(api, options, { directory, log });
    registerSlots(panel);
    registerCommands(panel, options);
    if (!isPanelKnown(directory)) notePanel(directory);
  } catch (thrown) {
    log.error("the panel did not start", { error: messageOf(thrown) });
  }
};

function connect(
  api: TuiPluginApi,
  options: PanelOptions,
  { directory, log }: { directory: string; log: PanelContext["log"] },
): PanelContext {
  const [state, setState] = createSignal<FeedState>({ tasks: [], isConnected: false });
  const [now, setNow] = createSignal(Date.now());
  let tick: ReturnType<typeof setInterval> | null = null;
  const rest = () => {
    if (tick) clearInterval(tick);
    tick = null;
  };
  const { signal } = api.lifecycle;
  const feed = new TaskFeed({
    find: () => options.server ?? findServer(directory, process.pid),
    signal,
    log,
    onChange: (next) => {
      setNow(Date.now());
      setState(next);
      // Nothing ticks where nothing runs.
      if (!next.tasks.some((task) => task.isLive)) rest();
      else tick ??= setInterval(() => setNow(Date.now()), TICK_MS);
    },
  });
  api.lifecycle.onDispose(rest);
  void feed.run();
  return { api, state, now, client: () => feed.client, log };
}

function registerSlots(panel: PanelContext): void {
  panel.api.slots.register({
    order: ABOVE_TODO,
    slots: {
      sidebar_content: (_context, { session_id }) => (
        <Safe panel={panel}>
          <Sidebar panel={panel} sessionId={session_id} />
        </Safe>
      ),
      session_prompt_right: (_context, { session_id }) => (
        <Safe panel={panel}>
          <Count panel={panel} sessionId={session_id} />
        </Safe>
      ),
      home_prompt_right: () => (
        <Safe panel={panel}>
          <Count panel={panel} sessionId={null} />
        </Safe>
      ),
      app_bottom: () => (
        <Safe panel={panel}>
          <TaskRow panel={panel} />
        </Safe>
      ),
    },
  });
}

function registerCommands(panel: PanelContext, { key, screenKey }: PanelOptions): void {
  const { api } = panel;
  let before: ReturnType<typeof currentRoute> = { name: "home", params: undefined };
  const back = () => api.route.navigate(before.name, before.params);
  const openScreen = () => {
    const current = currentRoute(panel);
    if (current.name === SCREEN_ROUTE) return back();
    before = current;
    api.ui.dialog.clear();
    api.route.navigate(SCREEN_ROUTE);
  };
  api.route.register([
    {
      name: SCREEN_ROUTE,
      render: () => (
        <Safe panel={panel} grows>
          <TaskScreen panel={panel} onBack={back} />
        </Safe>
      ),
    },
  ]);
  const shared = { category: "Background tasks", namespace: "palette" };
  const run = (work: () => void) => handler(panel, work);
  api.keymap.registerLayer({
    commands: [
      {
        ...shared,
        name: TASKS_COMMAND,
        title: "Show background tasks",
        slashName: "tasks",
        run: run(() => openTasks(panel)),
      },
      {
        ...shared,
        name: SCREEN_COMMAND,
        title: "Show background tasks on the whole screen",
        slashName: "tasks-screen",
        run: run(openScreen),
      },
    ],
    bindings: [
      ...(key === null ? [] : [{ key, cmd: TASKS_COMMAND, desc: "Show background tasks" }]),
      ...(screenKey === null ? [] : [{ key: screenKey, cmd: SCREEN_COMMAND, desc: "Background tasks, whole screen" }]),
    ],
  });
}

export default { id: "asyncagents", tui };
