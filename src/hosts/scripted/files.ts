/**
 * Keeps the sessions of scripted hosts in a folder, one file for each, so that they outlive the process: a session is
 * written whole, and replaced in one step. What was not finished when the process died is there as it was. No rules.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ScriptedSession, ScriptedSessions } from "./sessions.ts";

const ENDING = ".json";

export class ScriptedFiles {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Puts all sessions of the folder back; a file that cannot be read is left out. */
  load(sessions: ScriptedSessions): void {
    if (!existsSync(this.#folder)) return;
    for (const name of readdirSync(this.#folder).filter((file) => file.endsWith(ENDING))) {
      try {
        const session = JSON.parse(readFileSync(join(this.#folder, name), "utf8")) as ScriptedSession;
        // Scripts are not kept: what it does next, its next prompt says.
        sessions.restore({ ...session, place: null });
      } catch {}
    }
  }

  save(session: ScriptedSession): void {
    const file = this.#file(session.id);
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
    writeFileSync(`${file}.part`, JSON.stringify(session), { mode: 0o600 });
    renameSync(`${file}.part`, file);
  }

  remove(sessionId: string): void {
    rmSync(this.#file(sessionId), { force: true });
  }

  #file(sessionId: string): string {
    return join(this.#folder, `${encodeURIComponent(sessionId)}${ENDING}`);
  }
}
