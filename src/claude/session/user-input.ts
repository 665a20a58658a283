/**
 * The input of a session: its prompts, one after the other, as long as the session is open. Keeping it open lets
 * background tasks outlive a turn. Each prompt has an id that identifies the result of its turn.
 */
import { randomUUID } from "node:crypto";
import { AsyncAgentsError } from "../../model/errors.ts";
import type { ResultMessage } from "../messages/message-schemas.ts";
import type { SdkUserMessage } from "../sdk.ts";
import { BoundedStream } from "./bounded-stream.ts";
import type { Prompt } from "./prompt.ts";

interface Sent {
  uuid: string;
  resolve(result: ResultMessage): void;
  reject(reason: Error): void;
}

/** Prompts to send, and those that wait for their result. */
export class UserInput {
  readonly #stream = new BoundedStream<SdkUserMessage>(Number.POSITIVE_INFINITY);
  #sent: Sent[] = [];
  #isOver = false;

  /** For the SDK. */
  get stream(): AsyncIterable<SdkUserMessage> {
    return this.#stream;
  }

  /** How many prompts have no result yet. */
  get pending(): number {
    return this.#sent.length;
  }

  /** Resolves with the result of the turn that handles this prompt. */
  send(prompt: Prompt): Promise<ResultMessage> {
    if (this.#isOver) {
      const message = "This Claude session is closed: open another one, with `resume` to go on where it was.";
      return Promise.reject(new AsyncAgentsError("host_unavailable", message));
    }
    const uuid = randomUUID();
    const result = new Promise<ResultMessage>((resolve, reject) => {
      this.#sent.push({ uuid, resolve, reject });
    });
    const message: SdkUserMessage = {
      type: "user",
      message: { role: "user", content: typeof prompt === "string" ? prompt : [...prompt] },
      parent_tool_use_id: null,
      uuid,
    };
    this.#stream.push(message);
    return result;
  }

  /** A turn is over: resolves the prompts that it handled. */
  settle(result: ResultMessage): void {
    const taken = new Set(result.user_message_uuids ?? [result.user_message_uuid]);
    let done = this.#sent.filter(({ uuid }) => taken.has(uuid));
    // An older CLI does not name prompts: then they are resolved in order, except by turns that a task caused.
    const isNamed = result.user_message_uuids !== undefined || result.user_message_uuid !== undefined;
    if (!isNamed && result.origin?.kind !== "task-notification") done = this.#sent.slice(0, 1);
    this.#sent = this.#sent.filter((sent) => !done.includes(sent));
    for (const sent of done) sent.resolve(result);
  }

  /** No more prompts. Claude exits when it has finished its work. */
  end(): void {
    this.#isOver = true;
    this.#stream.end();
  }

  /** The session is gone: rejects the waiting prompts. */
  abandon(reason: Error): void {
    this.end();
    for (const sent of this.#sent.splice(0)) sent.reject(reason);
  }
}
