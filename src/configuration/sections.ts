/**
 * The table of sections: the only list of what can be set in `asyncagents.json`. To add one, add a file to `sections`
 * and a line here; the JSON schema, `asyncagents config` and all checks follow.
 */
import type { Section, SettingValue } from "./section.ts";
import { agents } from "./sections/agents.ts";
import { api } from "./sections/api.ts";
import { claude } from "./sections/claude.ts";
import { history } from "./sections/history.ts";
import { inbox } from "./sections/inbox.ts";
import { limits } from "./sections/limits.ts";
import { listen } from "./sections/listen.ts";
import { mcp } from "./sections/mcp.ts";
import { notifications } from "./sections/notifications.ts";
import { opencode } from "./sections/opencode.ts";
import { store } from "./sections/store.ts";
import { telemetry } from "./sections/telemetry.ts";
import { worktrees } from "./sections/worktrees.ts";

export const SECTIONS = {
  limits,
  inbox,
  notifications,
  history,
  store,
  worktrees,
  api,
  listen,
  opencode,
  claude,
  agents,
  mcp,
  telemetry,
};

/** Any table of sections, so that the checks can be tested with another one. */
export type Sections = Readonly<Record<string, Section>>;

type Values<Settings> = { readonly [Name in keyof Settings]: SettingValue<Settings[Name]> };

/** The value of every setting, once all sources are read. */
export type Configuration = {
  readonly [Name in keyof typeof SECTIONS]: Values<(typeof SECTIONS)[Name]["settings"]>;
};
