/**
 * Written rules about who is told what: by kind, agent, directory and who launched it. All rules that fit count; a
 * channel that several of them name gets it once, urgent if one of them says so. Pure.
 */
import { isLike } from "../text/like.ts";
import type { Notable, NotifiedKind } from "./notification.ts";

export interface NotificationRule {
  /** All kinds when absent. */
  kinds?: readonly NotifiedKind[] | undefined;
  /** `*` stands for any characters. Any agent when absent. */
  agent?: string | undefined;
  /** A folder, with everything in it; `*` stands for any characters. Any when absent. */
  directory?: string | undefined;
  /** Who launched the task. Anybody when absent. */
  launchedBy?: "person" | "agent" | undefined;
  /** The names of channels. All when absent. */
  channels?: readonly string[] | undefined;
  /** Not held back by quiet hours. */
  urgent?: boolean | undefined;
}

/** Without rules, everything is told, and nothing is urgent. */
const EVERYTHING: readonly NotificationRule[] = [{}];

/** Null if the channel is not told. */
export function rulingFor(
  channel: string,
  rules: readonly NotificationRule[],
  notable: Notable,
): { isUrgent: boolean } | null {
  const given = rules.length === 0 ? EVERYTHING : rules;
  const fitting = given.filter((rule) => (rule.channels?.includes(channel) ?? true) && fits(rule, notable));
  return fitting.length === 0 ? null : { isUrgent: fitting.some(({ urgent }) => urgent === true) };
}

function fits({ kinds, agent, directory, launchedBy }: NotificationRule, { content, isPersons }: Notable): boolean {
  if (kinds !== undefined && !(kinds as readonly string[]).includes(content.kind)) return false;
  if (launchedBy !== undefined && (launchedBy === "person") !== isPersons) return false;
  if (agent !== undefined && !isLike(content.agent ?? "", agent)) return false;
  if (directory === undefined) return true;
  const folder = directory.replace(/\/+$/, "");
  return isLike(content.directory, folder) || isLike(content.directory, `${folder}/*`);
}
