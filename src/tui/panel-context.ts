/** What every part of the panel gets: OpenCode's own API, the tasks, the time, and the person's actions. */
import type { TuiPluginApi } from "@opencode-ai/plugin/tui";
import type { Accessor } from "solid-js";
import type { Client } from "../client/client.ts";
import type { Log } from "../process/log.ts";
import type { FeedState } from "./task-feed.ts";

export const TASKS_COMMAND = "asyncagents.tasks";
export const SCREEN_COMMAND = "asyncagents.screen";
export const SCREEN_ROUTE = "asyncagents";

export interface PanelContext {
  api: TuiPluginApi;
  state: Accessor<FeedState>;
  /** Ticks once a second while a task is live, and not at all otherwise. */
  now: Accessor<number>;
  client(): Client;
  log: Log;
}

interface Route {
  name: string;
  params: Record<string, unknown> | undefined;
}

/** What the screen shows now. Reactive. */
export function currentRoute({ api }: PanelContext): Route {
  const { current } = api.route;
  return { name: current.name, params: "params" in current ? current.params : undefined };
}

/** The key of a command, as people read it; empty if it has none. */
export function keyOf({ api }: PanelContext, command: string): string {
  const bindings = api.keymap.getCommandBindings({ visibility: "registered", commands: [command] }).get(command);
  return api.keys.formatBindings(bindings) ?? "";
}
