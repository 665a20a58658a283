/**
 * The transcripts of all sessions of this host: one append-only file each, and one small file per launch. What was
 * written before a crash is still there after it; the end of a run and its prompt are on the disk before they count.
 * Invariant: lines of a session are stored in order. Updates stop at a size limit; prompts and ends never do. What
 * cannot be written (a full disk) stays in memory until it can be, and counts as written for this process.
 */
import { constants, mkdir, open, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { AsyncAgentsError } from "../../model/errors.ts";
import { type AcpIdentity, lineIn, type TranscriptLine, textOfLine } from "./transcript-lines.ts";

/** The most that a transcript holds before updates are left out, in bytes. */
const TRANSCRIPT_BYTES = 32 * 1024 * 1024;

/** What an agent can cause as often as it likes. */
const BOUNDED = new Set<TranscriptLine["type"]>(["update", "asked", "answered", "unasked"]);

interface Writing {
  /** Not in the file yet, oldest first. */
  pending: string[];
  bytes: number;
  /** The run whose updates are left out from here on. */
  fullFor: string | null;
  last: Promise<void>;
}

export class TranscriptFiles {
  readonly #folder: string;
  readonly #limit: number;
  readonly #writing = new Map<string, Writing>();

  constructor(folder: string, limit = TRANSCRIPT_BYTES) {
    this.#folder = folder;
    this.#limit = limit;
  }

  async create(sessionId: string, identity: AcpIdentity): Promise<void> {
    await mkdir(join(this.#folder, "sessions"), { recursive: true, mode: 0o700 });
    await mkdir(join(this.#folder, "launches"), { recursive: true, mode: 0o700 });
    await writeSynced(this.#session(sessionId), textOfLine({ type: "session", ...identity }), "wx");
    await writeSynced(this.#launch(identity.launchId), sessionId, "w");
  }

  /** Empty if there is no such session. */
  async read(sessionId: string): Promise<TranscriptLine[]> {
    const writing = this.#writing.get(sessionId);
    if (writing === undefined) return linesIn(await textOf(this.#session(sessionId)), []);
    // In turn with the writes: a line that is being written would be read twice, or not at all.
    const reading = writing.last.then(() => textOf(this.#session(sessionId)));
    writing.last = reading.then(ignore, ignore);
    return linesIn(await reading, writing.pending);
  }

  async exists(sessionId: string): Promise<boolean> {
    return (await stat(this.#session(sessionId)).catch(absent)) !== null;
  }

  async launched(launchId: string): Promise<string | null> {
    // Empty if this process died while it was written: then nobody got the session.
    return (await textOf(this.#launch(launchId))) || null;
  }

  /** Stores the line soon; never throws. False if it is left out: the limit is reached. */
  note(sessionId: string, line: Extract<TranscriptLine, { messageId: string }>): boolean {
    const writing = this.#writingOf(sessionId);
    if (BOUNDED.has(line.type) && !this.#hasRoom(writing, line.messageId, line.at)) return false;
    this.#add(writing, textOfLine(line));
    void this.#flush(sessionId, writing, false);
    return true;
  }

  /** Resolves when the line and all before it are on the disk. Rejects if it cannot be written: then it never is. */
  async store(sessionId: string, line: Extract<TranscriptLine, { messageId: string }>): Promise<void> {
    const writing = this.#writingOf(sessionId);
    const text = textOfLine(line);
    this.#add(writing, text);
    await this.#flush(sessionId, writing, true);
    const at = writing.pending.indexOf(text);
    if (at === -1) return;
    writing.pending.splice(at, 1);
    throw new AsyncAgentsError("host_failed", `${this.#session(sessionId)} cannot be written. Is the disk full?`, {
      details: { refused: true },
    });
  }

  /** Resolves when everything noted so far is on the disk, or cannot be written. */
  async settle(sessionId: string): Promise<void> {
    await this.#flush(sessionId, this.#writingOf(sessionId), true);
  }

  /** No run of the session is live any more. What could not be written stays. */
  async release(sessionId: string): Promise<void> {
    const writing = this.#writing.get(sessionId);
    await writing?.last;
    if (writing?.pending.length === 0 && this.#writing.get(sessionId) === writing) this.#writing.delete(sessionId);
  }

  async remove(sessionId: string): Promise<void> {
    const [first] = await this.read(sessionId);
    this.#writing.delete(sessionId);
    await rm(this.#session(sessionId), { force: true });
    if (first?.type === "session") await rm(this.#launch(first.launchId), { force: true });
  }

  #writingOf(sessionId: string): Writing {
    const found = this.#writing.get(sessionId);
    if (found) return found;
    const writing: Writing = { pending: [], bytes: 0, fullFor: null, last: Promise.resolve() };
    this.#writing.set(sessionId, writing);
    const sized = stat(this.#session(sessionId)).catch(() => null);
    writing.last = sized.then((file) => {
      writing.bytes += file?.size ?? 0;
    });
    return writing;
  }

  #hasRoom(writing: Writing, messageId: string, at: number): boolean {
    if (writing.fullFor === messageId) return false;
    if (writing.bytes < this.#limit) return true;
    writing.fullFor = messageId;
    this.#add(writing, textOfLine({ type: "full", messageId, at }));
    return false;
  }

  #add(writing: Writing, text: string): void {
    writing.bytes += Buffer.byteLength(text);
    writing.pending.push(text);
  }

  /** One write at a time; each takes everything that has come together until then. */
  #flush(sessionId: string, writing: Writing, isSynced: boolean): Promise<void> {
    const turn = writing.last.then(async () => {
      const lines = writing.pending.slice();
      if (lines.length === 0 && !isSynced) return;
      try {
        // A process that died may have left part of a line: every write starts on a line of its own.
        await appendTo(this.#session(sessionId), `\n${lines.join("")}`, isSynced);
        writing.pending.splice(0, lines.length);
      } catch {
        // They stay pending; the next write takes them along.
      }
    });
    writing.last = turn;
    return turn;
  }

  #session(sessionId: string): string {
    return join(this.#folder, "sessions", `${encodeURIComponent(sessionId)}.jsonl`);
  }

  #launch(launchId: string): string {
    return join(this.#folder, "launches", encodeURIComponent(launchId));
  }
}

function ignore(): void {}

/** Nothing without a file: it may have been deleted. */
function linesIn(text: string | null, pending: readonly string[]): TranscriptLine[] {
  if (text === null || text === "") return [];
  return [...text.split("\n"), ...pending].flatMap((line) => lineIn(line.trim()));
}

/** All of it, or nothing: it is written again. Never creates the file: it may have been deleted. */
async function appendTo(path: string, text: string, isSynced: boolean): Promise<void> {
  const file = await open(path, constants.O_WRONLY | constants.O_APPEND);
  try {
    const { size } = await file.stat();
    try {
      await file.writeFile(text);
      if (isSynced) await file.sync();
    } catch (thrown) {
      await file.truncate(size).catch(ignore);
      throw thrown;
    }
  } finally {
    await file.close();
  }
}

async function writeSynced(path: string, text: string, flag: "w" | "wx"): Promise<void> {
  await writeFile(path, text, { flag, mode: 0o600, flush: true });
}

async function textOf(path: string): Promise<string | null> {
  try {
    return await readFile(path, "utf8");
  } catch (thrown) {
    return absent(thrown);
  }
}

function absent(thrown: unknown): null {
  if ((thrown as NodeJS.ErrnoException).code === "ENOENT") return null;
  throw thrown;
}
