/**
 * Creates scripted hosts: agents without a model that follow the instructions in their prompt (`instructions.ts`), for
 * trying out everything else. All hosts share their sessions; with a folder, sessions outlive the process, and several
 * processes use them, as on real hosts: a session in which nothing works here is read again before it is used.
 */
import { type Clock, systemClock } from "../../process/clock.ts";
import { makeId } from "../../process/make-id.ts";
import type { HostEvent, NotifyInput, PromptInput, StartInput, SteerInput } from "../host.ts";
import type { HostMaker, OpenedHost } from "../host-maker.ts";
import { ScriptedFiles } from "./files.ts";
import { instructedSteps } from "./instructions.ts";
import { scriptIn } from "./script.ts";
import { type ScriptedHost, scriptedHost } from "./scripted-host.ts";
import { ScriptedSessions } from "./sessions.ts";

interface ScriptedHostsOptions {
  /** Where sessions are stored; in memory only if absent. */
  folder?: string;
  /** The names of the agents; the first is the default. */
  agents?: readonly string[];
  now?(): number;
  /** As for one scripted host. */
  after?: Clock["after"];
}

export interface ScriptedHosts extends HostMaker {
  readonly kind: "scripted";
  /** Shared by its hosts; prompts can name the scripts that are registered here. */
  readonly sessions: ScriptedSessions;
}

export function scriptedHosts(options: ScriptedHostsOptions = {}): ScriptedHosts {
  const { folder, agents = ["general", "explore"], now = systemClock.now, after } = options;
  const files = folder === undefined ? null : new ScriptedFiles(folder);
  // Ids of a later process sort after those of an earlier one. Processes that start at the same time differ in the end.
  const process = Number.parseInt(makeId("").slice(1, 9), 16);
  const sessions = new ScriptedSessions(now() * 1000, (id) => files?.find(id) ?? null, process);
  files?.load(sessions);
  const hosts = new Set<ScriptedHost>();
  const unsaved = new Set<string>();
  const save = (sessionId: string) => {
    if (sessions.holds(sessionId)) files?.save(sessions.get(sessionId));
    else files?.remove(sessionId);
    unsaved.delete(sessionId);
  };
  /** A full disk must not break the current turn: an unsaved change is saved with the next event. */
  const saveWhenPossible = (sessionId: string) => {
    unsaved.add(sessionId);
    for (const each of unsaved) {
      try {
        save(each);
      } catch {
        return;
      }
    }
  };
  /** Another process may have changed it since it was read here. Scripts are not stored: this one's goes on. */
  const refresh = (sessionId: string) => {
    if (unsaved.has(sessionId) || [...hosts].some((host) => host.isAtWork(sessionId))) return;
    const stored = files?.find(sessionId);
    if (stored) sessions.restore({ ...stored, place: sessions.get(sessionId).place });
  };

  return {
    kind: "scripted",
    sessions,
    problem: async () => null,
    async open(directory): Promise<OpenedHost> {
      const scripted = scriptedHost({ sessions, agents, now, ...(after && { after }) });
      scripted.onEvent((event: HostEvent) => {
        if ("sessionId" in event) saveWhenPossible(event.sessionId);
      });
      const host: ScriptedHost = {
        ...scripted,
        async start(input: StartInput) {
          const sessionId = await scripted.start(input);
          save(sessionId);
          return sessionId;
        },
        async prompt(sessionId: string, input: PromptInput) {
          refresh(sessionId);
          sessions.adopt(sessionId);
          if (scriptIn(input.text) === null) {
            sessions.follow(sessions.get(sessionId), instructedSteps(input.text, directory));
          }
          await scripted.prompt(sessionId, input);
        },
        async notify(sessionId: string, input: NotifyInput) {
          refresh(sessionId);
          sessions.adopt(sessionId);
          await scripted.notify(sessionId, input);
        },
        async inspect(sessionId, runMessageId, steering) {
          refresh(sessionId);
          return scripted.inspect(sessionId, runMessageId, steering);
        },
        async steer(sessionId: string, input: SteerInput) {
          refresh(sessionId);
          sessions.adopt(sessionId);
          await scripted.steer(sessionId, input);
        },
        async messages(sessionId, page) {
          refresh(sessionId);
          return scripted.messages(sessionId, page);
        },
        async hasMessage(sessionId, messageId) {
          refresh(sessionId);
          return scripted.hasMessage(sessionId, messageId);
        },
      };
      hosts.add(host);
      return {
        host,
        async close() {
          hosts.delete(host);
          host.crash();
        },
      };
    },
    async stop() {
      for (const host of hosts) host.crash();
      hosts.clear();
    },
  };
}
