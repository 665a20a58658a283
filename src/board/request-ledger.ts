/**
 * Executes calls that carry a `request_id` only once: a second call gets the first one's answer. The id is claimed
 * before any work and released if the call fails without effects. If it failed halfway or its process died, the
 * caller is told to check the result.
 */
import { createHash } from "node:crypto";
import { AsyncAgentsError, messageOf } from "../model/errors.ts";
import type { BoardContext } from "./board-context.ts";

const KEPT_MS = 7 * 24 * 3_600_000;

/** Runs the call, which reports as soon as it has effects that a failure does not undo. */
type Work<T> = (hadEffects: () => void) => Promise<T>;

export class RequestLedger {
  readonly #context: BoardContext;
  readonly #underWay = new Map<string, { hash: string; answer: Promise<unknown> }>();

  constructor(context: BoardContext) {
    this.#context = context;
  }

  /** Deletes entries so old that nobody will repeat them. */
  async prune(): Promise<void> {
    await this.#context.store.board.pruneRequests(this.#context.now() - KEPT_MS);
  }

  async once<T>(operation: string, input: Record<string, unknown>, work: Work<T>): Promise<T> {
    const { request_id: requestId, ...rest } = input;
    if (typeof requestId !== "string") return work(() => {});
    const hash = createHash("sha256").update(canonical(rest)).digest("hex");
    const key = `${operation}\n${requestId}`;
    const first = this.#underWay.get(key);
    if (first) {
      if (first.hash !== hash) throw otherInput(requestId);
      return first.answer as Promise<T>;
    }
    const answer = this.#claimed(operation, requestId, hash, work);
    this.#underWay.set(key, { hash, answer });
    try {
      return await answer;
    } finally {
      this.#underWay.delete(key);
    }
  }

  async #claimed<T>(operation: string, requestId: string, hash: string, work: Work<T>): Promise<T> {
    const { store, now } = this.#context;
    const known = await store.board.claimRequest(operation, requestId, hash, now());
    if (known === null) {
      let hasEffects = false;
      const hadEffects = () => {
        hasEffects = true;
      };
      const answer = await work(hadEffects).catch(async (thrown: unknown) => {
        if (!hasEffects) await this.#release(operation, requestId);
        throw thrown;
      });
      await store.board.answerRequest(operation, requestId, JSON.stringify(answer));
      return answer;
    }
    if (known.inputHash !== hash) throw otherInput(requestId);
    if (known.answer !== null) return JSON.parse(known.answer);
    throw new AsyncAgentsError(
      "request_conflict",
      `A call of ${operation} with request_id ${JSON.stringify(requestId)} was interrupted or failed halfway, so it is unknown how far it got. Check the lists; if it was not done, call again with another request_id.`,
      { details: { request_id: requestId } },
    );
  }

  /** A claim that remains is reported as interrupted, which is the safe error. */
  async #release(operation: string, requestId: string): Promise<void> {
    const { store, log } = this.#context;
    await store.board.dropRequest(operation, requestId).catch((failure: unknown) => {
      log.error("a request_id could not be given back", { operation, error: messageOf(failure) });
    });
  }
}

function otherInput(requestId: string): AsyncAgentsError {
  return new AsyncAgentsError(
    "request_conflict",
    `request_id ${JSON.stringify(requestId)} was used for a call with other input. Use another one for this call.`,
    { details: { request_id: requestId } },
  );
}

/** The same text for the same values, regardless of the order of fields. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  const entries = Object.entries(value).filter(([, inner]) => inner !== undefined);
  entries.sort(([one], [other]) => (one < other ? -1 : 1));
  return `{${entries.map(([name, inner]) => `${JSON.stringify(name)}:${canonical(inner)}`).join()}}`;
}
