/** What scripted agents really did: their transcripts, in the folders of their machines. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { AgentMessage, ScriptedSession, UserMessage } from "../../../src/hosts/scripted/sessions.ts";
import type { Fleet } from "./fleet.ts";

/** All sessions of all machines, by their ids. */
export function transcripts(fleet: Fleet): Map<string, ScriptedSession> {
  const found = new Map<string, ScriptedSession>();
  for (const machine of readdirSync(fleet.folder)) {
    const folder = join(fleet.data(machine), "scripted");
    for (const file of filesIn(folder)) {
      const session = JSON.parse(readFileSync(join(folder, file), "utf8")) as ScriptedSession;
      found.set(session.id, session);
    }
  }
  return found;
}

export function prompts({ messages }: ScriptedSession): UserMessage[] {
  return messages.filter((message) => message.role === "user");
}

export function lastAnswer({ messages }: ScriptedSession): AgentMessage | null {
  return messages.findLast((message) => message.role === "assistant") ?? null;
}

/** The text with which the agent ended its turn; null if it did not. */
export function finalText(session: ScriptedSession): string | null {
  const last = lastAnswer(session);
  return last?.last && last.endedAt !== null && last.error === null ? last.text : null;
}

function filesIn(folder: string): string[] {
  try {
    return readdirSync(folder).filter((name) => name.endsWith(".json"));
  } catch {
    return [];
  }
}
