/**
 * Who answered what: the answers to requests that this instance's host took or reported, in memory, the newest of them. One answer at
 * a time is tried for a request, so that whoever comes second is told of the first. The tasks' rows carry the newest of it.
 */
import { type GivenAnswer, givenText, type ReplyWord } from "../model/answer.ts";
import { AsyncAgentsError } from "../model/errors.ts";
import type { PhaseDetail, Task } from "../model/task.ts";

const KEPT = 1000;

export type Answered = GivenAnswer & { at: number };

export class Answers {
  readonly #now: () => number;
  /** What was said, and is an answer once the host took it. */
  readonly #said = new Map<string, Answered>();
  readonly #taken = new Map<string, Answered>();
  readonly #trying = new Map<string, Promise<unknown>>();

  constructor(now: () => number) {
    this.#now = now;
  }

  of(requestId: string): Answered | null {
    return this.#taken.get(requestId) ?? null;
  }

  /** Hands an answer to the host, after those that are on their way; false where the request was over by then. */
  async give(requestId: string, given: GivenAnswer, send: () => Promise<boolean>): Promise<boolean> {
    const before = this.#trying.get(requestId);
    const trying = Promise.resolve(before?.catch(() => undefined)).then(async () => {
      if (this.#taken.has(requestId)) return false;
      this.#said.set(requestId, { ...given, at: this.#now() });
      const isTaken = await send();
      if (isTaken) this.#settle(requestId);
      else this.#said.delete(requestId);
      return isTaken;
    });
    this.#trying.set(requestId, trying);
    try {
      return await trying;
    } finally {
      if (this.#trying.get(requestId) === trying) this.#trying.delete(requestId);
    }
  }

  /** The host says that requests are over, and maybe how; gives the newest of which that is known. */
  heard(requestIds: readonly string[], reply?: ReplyWord): PhaseDetail | null {
    let newest: PhaseDetail | null = null;
    for (const requestId of requestIds) {
      const answered = this.#settle(requestId, reply);
      if (answered) newest = { kind: "answered", requestId, ...answered };
    }
    return newest;
  }

  /** What was said here counts, unless the host reports something else. */
  #settle(requestId: string, reply?: ReplyWord): Answered | null {
    const said = this.#said.get(requestId);
    this.#said.delete(requestId);
    const known = this.#taken.get(requestId);
    if (known) return known;
    const isOurs = said !== undefined && (reply === undefined || reply === said.reply);
    const answered = isOurs ? said : reply === undefined ? null : ({ reply, by: "host", at: this.#now() } as const);
    if (answered === null) return null;
    this.#taken.set(requestId, answered);
    for (const oldest of this.#taken.keys()) if (this.#taken.size > KEPT) this.#taken.delete(oldest);
    return answered;
  }
}

/** The refusal of an answer that nobody waits for, with what was answered, where that is known. */
export function overAlready(task: Task, requestId: string | undefined, answered: GivenAnswer | null): AsyncAgentsError {
  const { phaseDetail: last } = task;
  const isThat = last?.kind === "answered" && (requestId ?? last.requestId) === last.requestId;
  const known = answered ?? (isThat ? last : null);
  if (known === null) {
    return new AsyncAgentsError("nothing_asked", `Task ${task.id} does not wait for this answer.`);
  }
  const { reply, by } = known;
  const message = `What task ${task.id} asked for was already ${givenText(known)}. This answer changed nothing.`;
  return new AsyncAgentsError("nothing_asked", message, { details: { reply, by } });
}
