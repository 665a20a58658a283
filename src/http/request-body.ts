/**
 * Reads request bodies in full or rejects them: each has a maximum size and must arrive in time, and all unfinished
 * bodies of this process share a limit, of which one token gets a part. A client that sends half of a body cannot hold
 * memory or a connection for long, nor keep others from sending theirs. Does not look at the content.
 */
import { AsyncAgentsError } from "../model/errors.ts";
import { within } from "../process/deadline.ts";
import type { Caller } from "./access/guard.ts";

const ARRIVAL_MS = 30_000;
const ALL_BYTES = 16 * 1024 * 1024;
const BYTES_OF_TOKEN = ALL_BYTES / 4;

/** The bytes that unfinished bodies hold now: one limit per process, however many servers it has. */
let held = 0;
/** Those of each token, by its name, while there are any. */
const heldByToken = new Map<string, number>();

interface BodyLimits {
  maxBytes: number;
  arrivalMs?: number;
}

/** The body's bytes. Throws `too_large`, `request_timeout` or `too_many_requests`. */
export async function wholeBody(
  request: Request,
  { token }: Pick<Caller, "token">,
  { maxBytes, arrivalMs = ARRIVAL_MS }: BodyLimits,
): Promise<Uint8Array<ArrayBuffer>> {
  const declared = Number(request.headers.get("content-length") ?? 0) || 0;
  if (declared > maxBytes) throw tooLarge(maxBytes);
  if (request.body === null) return new Uint8Array();
  const share = new Share(token?.name ?? null);
  try {
    // The announced size counts from the start, so that a body that does not fit is not read at all.
    share.grow(declared);
    return await read(request.body, arrivalMs, (size) => {
      if (size > maxBytes) throw tooLarge(maxBytes);
      share.grow(size);
    });
  } finally {
    share.release();
  }
}

/** The part of the limit that one unfinished body holds. */
class Share {
  readonly #token: string | null;
  #bytes = 0;

  constructor(token: string | null) {
    this.#token = token;
  }

  grow(bytes: number): void {
    const more = bytes - this.#bytes;
    if (more <= 0) return;
    if (held + more > ALL_BYTES || this.#heldByToken + more > BYTES_OF_TOKEN) throw tooMany();
    this.#add(more);
  }

  release(): void {
    this.#add(-this.#bytes);
  }

  get #heldByToken(): number {
    return this.#token === null ? 0 : (heldByToken.get(this.#token) ?? 0);
  }

  #add(bytes: number): void {
    held += bytes;
    this.#bytes += bytes;
    if (this.#token === null) return;
    const left = this.#heldByToken + bytes;
    if (left > 0) heldByToken.set(this.#token, left);
    else heldByToken.delete(this.#token);
  }
}

async function read(
  body: ReadableStream<Uint8Array>,
  arrivalMs: number,
  admit: (size: number) => void,
): Promise<Uint8Array<ArrayBuffer>> {
  const reader = body.getReader();
  const sink = new Bun.ArrayBufferSink();
  sink.start({ asUint8Array: true });
  let isGivenUp = false;
  const readAll = async () => {
    for (let size = 0; ; ) {
      const { done, value } = await reader.read();
      if (done || isGivenUp) return sink.end() as Uint8Array<ArrayBuffer>;
      size += value.byteLength;
      admit(size);
      sink.write(value);
    }
  };
  try {
    return await within(readAll(), { timeout: arrivalMs }, tooLate);
  } catch (thrown) {
    isGivenUp = true;
    void reader.cancel().catch(() => undefined);
    throw thrown;
  }
}

function tooLarge(maxBytes: number): AsyncAgentsError {
  return new AsyncAgentsError("too_large", `A request may have at most ${maxBytes} bytes. Put long text into a file.`);
}

function tooLate(arrivalMs: number): AsyncAgentsError {
  const message = `The body did not arrive within ${arrivalMs / 1000} s. Send it whole, then try again.`;
  return new AsyncAgentsError("request_timeout", message);
}

function tooMany(): AsyncAgentsError {
  const message = "Too many large requests are arriving at once. Send them one after the other.";
  return new AsyncAgentsError("too_many_requests", message);
}
