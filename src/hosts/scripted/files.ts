/**
 * Stores the sessions of scripted hosts in a folder, one file each, so that they outlive the process. A session is
 * written as a whole and replaced atomically. An unfinished message stays unfinished after a crash. Contains no rules.
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

  /** Restores all sessions in the folder; skips unreadable files. */
  load(sessions: ScriptedSessions): void {
    if (!existsSync(this.#folder)) return;
    for (const name of readdirSync(this.#folder).filter((file) => file.endsWith(ENDING))) {
      const session = this.#read(join(this.#folder, name));
      if (session !== null) sessions.restore(session);
    }
  }

  /** One session as it is stored now; null if there is none that can be read. */
  find(sessionId: string): ScriptedSession | null {
    return this.#read(this.#file(sessionId));
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

  #read(file: string): ScriptedSession | null {
    try {
      const session = JSON.parse(readFileSync(file, "utf8")) as ScriptedSession;
      // Scripts are not stored: the next prompt says what to do next.
      return { ...session, place: null };
    } catch {
      return null;
    }
  }

  #file(sessionId: string): string {
    return join(this.#folder, `${encodeURIComponent(sessionId)}${ENDING}`);
  }
}
