/**
 * Stores what Claude's transcript does not: who a session was created for, which prompts it got, and how each ended.
 * Uses one append-only file per session and one per launch, so that a crash at any point keeps everything written
 * before. What cannot be written (a full disk) is kept in memory until it can be, and counts as written for this
 * process. Does not store messages: Claude does.
 */
import { appendFile, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

interface SessionIdentity {
  parentSessionId: string;
  agent: string;
  title: string;
  model: string | null;
  launchId: string;
  denyTools: readonly string[];
  at: number;
}

/** How a prompt ended, as reported by the CLI. */
export interface RunEnd {
  messageId: string;
  at: number;
  /** The answer that ended the run; null if there is none. */
  text: string | null;
  error: string | null;
  aborted: boolean;
  /** When the provider will be back, if that is why it failed; null if the CLI does not say. */
  until?: number | null;
  cost: number;
  /** The cost of the session so far: the CLI continues the count from one process to the next. */
  totalCost: number;
}

export interface SessionRecord {
  identity: SessionIdentity;
  /** Accepted prompts, with the time. */
  prompts: Map<string, number>;
  /** The prompts that the model started to answer. */
  begun: Set<string>;
  ends: Map<string, RunEnd>;
  totalCost: number;
}

type Line =
  | ({ type: "session" } & SessionIdentity)
  | { type: "prompted" | "begun"; messageId: string; at: number }
  | ({ type: "ended" } & RunEnd);

export class ClaudeLedger {
  readonly #folder: string;
  /** Lines per session that could not be written yet, oldest first. */
  readonly #unwritten = new Map<string, string[]>();
  #lastWrite: Promise<void> = Promise.resolve();

  constructor(folder: string) {
    this.#folder = folder;
  }

  async create(sessionId: string, identity: SessionIdentity): Promise<void> {
    await mkdir(join(this.#folder, "sessions"), { recursive: true, mode: 0o700 });
    await mkdir(join(this.#folder, "launches"), { recursive: true, mode: 0o700 });
    await writeFile(this.#session(sessionId), lineOf({ type: "session", ...identity }), { flag: "wx", mode: 0o600 });
    await writeFile(this.#launch(identity.launchId), sessionId, { mode: 0o600 });
  }

  /** Null if the session was not created here. */
  async read(sessionId: string): Promise<SessionRecord | null> {
    const text = (await textOf(this.#session(sessionId))) ?? "";
    const lines = [...text.split("\n"), ...(this.#unwritten.get(sessionId) ?? [])].flatMap(parse);
    const [first, ...rest] = lines;
    if (first?.type !== "session") return null;
    const record: SessionRecord = {
      identity: first,
      prompts: new Map(),
      begun: new Set(),
      ends: new Map(),
      totalCost: 0,
    };
    for (const line of rest) {
      if (line.type === "prompted") record.prompts.set(line.messageId, line.at);
      if (line.type === "begun") record.begun.add(line.messageId);
      if (line.type !== "ended") continue;
      record.ends.set(line.messageId, line);
      record.totalCost = Math.max(record.totalCost, line.totalCost);
    }
    return record;
  }

  /** Rejects if it cannot be written: then the prompt must not be sent. */
  async prompted(sessionId: string, messageId: string, at: number): Promise<void> {
    await this.#append(sessionId, lineOf({ type: "prompted", messageId, at }));
  }

  /**
   * Claude writes its transcript late, and a crash loses this fact there. Never rejects, because it has already
   * happened.
   */
  async begun(sessionId: string, messageId: string, at: number): Promise<void> {
    await this.#note(sessionId, { type: "begun", messageId, at });
  }

  /** Never rejects, because it has already happened. */
  async ended(sessionId: string, end: RunEnd): Promise<void> {
    await this.#note(sessionId, { type: "ended", ...end });
  }

  async launched(launchId: string): Promise<string | null> {
    // Empty if the process died while it was written: then nobody got the session.
    return (await textOf(this.#launch(launchId))) || null;
  }

  async remove(sessionId: string): Promise<void> {
    const record = await this.read(sessionId);
    this.#unwritten.delete(sessionId);
    await rm(this.#session(sessionId), { force: true });
    if (record) await rm(this.#launch(record.identity.launchId), { force: true });
  }

  async #note(sessionId: string, line: Line): Promise<void> {
    await this.#append(sessionId, lineOf(line)).catch(() => this.#unwritten.get(sessionId)?.push(lineOf(line)));
  }

  /** One at a time, so that earlier lines that could not be written come first, and only once. */
  #append(sessionId: string, line: string): Promise<void> {
    const turn = this.#lastWrite.then(() => this.#write(sessionId, line));
    this.#lastWrite = turn.catch(() => {});
    return turn;
  }

  async #write(sessionId: string, line: string): Promise<void> {
    const before = this.#unwritten.get(sessionId);
    // A failed write may have left part of a line: start a new line.
    const text = before === undefined ? line : `\n${before.join("")}${line}`;
    this.#unwritten.set(sessionId, before ?? []);
    await appendFile(this.#session(sessionId), text);
    this.#unwritten.delete(sessionId);
  }

  #session(sessionId: string): string {
    return join(this.#folder, "sessions", `${encodeURIComponent(sessionId)}.jsonl`);
  }

  #launch(launchId: string): string {
    return join(this.#folder, "launches", encodeURIComponent(launchId));
  }
}

function lineOf(line: Line): string {
  return `${JSON.stringify(line)}\n`;
}

/** Ignores a line that a crash cut short. */
function parse(line: string): Line[] {
  try {
    return line === "" ? [] : [JSON.parse(line) as Line];
  } catch {
    return [];
  }
}

async function textOf(file: string): Promise<string | null> {
  try {
    return await readFile(file, "utf8");
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw thrown;
  }
}
