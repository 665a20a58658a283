/**
 * Who answered what: the newest answers to requests that this instance's host accepted or reported, in memory. Answers
 * to one request are tried one at a time, so that a second one learns of the first. The task's row keeps the newest
 * answer.
 */
import { type GivenAnswer, givenText, type ReplyWord } from "../model/answer.ts";
import { AsyncAgentsError } from "../model/errors.ts";
import type { Answered } from "../model/live-run/live-run.ts";
import { questionsIn } from "../model/questions.ts";
import type { Task } from "../model/task.ts";
import { KeyedQueue } from "../process/keyed-queue.ts";

const KEPT = 1000;

type RecordedAnswer = GivenAnswer & { at: number };

export class Answers {
  readonly #now: () => number;
  /** Given answers that the host has not accepted yet. */
  readonly #given = new Map<string, RecordedAnswer>();
  readonly #accepted = new Map<string, RecordedAnswer>();
  readonly #inOrder = new KeyedQueue();

  constructor(now: () => number) {
    this.#now = now;
  }

  of(requestId: string): RecordedAnswer | null {
    return this.#accepted.get(requestId) ?? null;
  }

  /** Gives an answer to the host, after those before it. False if the request was over by then. */
  give(requestId: string, given: GivenAnswer, send: () => Promise<boolean>): Promise<boolean> {
    return this.#inOrder.run(requestId, async () => {
      if (this.#accepted.has(requestId)) return false;
      this.#given.set(requestId, { ...given, at: this.#now() });
      const isAccepted = await send();
      if (isAccepted) this.#settle(requestId);
      else this.#given.delete(requestId);
      return isAccepted;
    });
  }

  /** The host reports that requests are over, and possibly how. Returns the newest answer that is known. */
  heard(requestIds: readonly string[], reply?: ReplyWord): Answered | null {
    let newest: Answered | null = null;
    for (const requestId of requestIds) {
      const answered = this.#settle(requestId, reply);
      if (answered) newest = { kind: "answered", requestId, ...answered };
    }
    return newest;
  }

  /** The answer given here counts, unless the host reports another one. */
  #settle(requestId: string, reply?: ReplyWord): RecordedAnswer | null {
    const given = this.#given.get(requestId);
    this.#given.delete(requestId);
    const known = this.#accepted.get(requestId);
    if (known) return known;
    const isOurs = given !== undefined && (reply === undefined || reply === given.reply);
    const answered = isOurs ? given : reply === undefined ? null : ({ reply, by: "host", at: this.#now() } as const);
    if (answered === null) return null;
    this.#accepted.set(requestId, answered);
    for (const oldest of this.#accepted.keys()) if (this.#accepted.size > KEPT) this.#accepted.delete(oldest);
    return answered;
  }
}

/** The error for an answer that nobody waits for. It says what was answered, if that is known. */
export function overAlready(task: Task, requestId: string | undefined, answered: GivenAnswer | null): AsyncAgentsError {
  const { phaseDetail: last } = task;
  const isThat = last?.kind === "answered" && (requestId ?? last.requestId) === last.requestId;
  const known = answered ?? (isThat ? last : null);
  if (known === null) {
    return new AsyncAgentsError("nothing_asked", `Task ${task.id} does not wait for this answer.`);
  }
  const { reply, by, who, text } = known;
  const message = `What task ${task.id} asked for was already ${givenText(known)}. This answer changed nothing.`;
  return new AsyncAgentsError("nothing_asked", message, {
    details: { reply, by, ...(who !== undefined && { who }), ...(text !== undefined && { text }) },
  });
}

/** Rejects answers unless there is one for each question. */
export function assertEachAnswered(asked: string, { length: given }: readonly string[]): void {
  const { length: count } = questionsIn(asked);
  if (given === count) return;
  const wanted = count === 1 ? "Give one answer" : `Give ${count} answers, one for each question`;
  const message = `${wanted}, not ${given}; on a command line, put each in quotes. Nothing was answered. It asks: ${asked.slice(0, 500)}`;
  throw new AsyncAgentsError("invalid_input", message, { details: { questions: count, answers: given } });
}
