/**
 * Who may ask: programs on this machine and pages from it. A page from elsewhere must not read transcripts, whatever name
 * it gave this address (DNS rebinding), and only who holds the token changes things. A program of the same user is no
 * boundary: it can read the token. One of another user gets neither the token nor at the tools.
 */
import { timingSafeEqual } from "node:crypto";
import { AsyncAgentsError } from "../model/errors.ts";

const LOOPBACK = new Set(["localhost", "127.0.0.1", "[::1]"]);

export interface GuardOptions {
  token: string;
  /** Origins besides those of this machine whose pages may read; from ASYNCAGENTS_API_ORIGINS. */
  origins: readonly string[];
  /** Whether the request comes from a program of another user of this machine. */
  isOtherUser(request: Request): boolean;
}

export class Guard {
  readonly #token: Buffer;
  readonly #origins: ReadonlySet<string>;
  readonly #isOtherUser: GuardOptions["isOtherUser"];

  constructor({ token, origins, isOtherUser }: GuardOptions) {
    this.#isOtherUser = isOtherUser;
    this.#token = Buffer.from(`Bearer ${token}`);
    this.#origins = new Set(origins);
  }

  /** Throws where the request comes from somewhere else. */
  admit(request: Request): void {
    const host = request.headers.get("host") ?? "";
    if (!isLoopback(`http://${host}`)) {
      throw refusal(`This server answers on this machine only; the request came for the host "${host.slice(0, 100)}".`);
    }
    const origin = request.headers.get("origin");
    if (origin === null || isLoopback(origin) || this.#origins.has(origin)) return;
    const remedy = "List the origin in ASYNCAGENTS_API_ORIGINS to allow it.";
    throw refusal(`Pages from ${origin.slice(0, 200)} may not read this server. ${remedy}`);
  }

  /** Throws where a page asks that is not this server's own (programs send no origin), or another user without the token. */
  admitProgram(request: Request): void {
    this.admit(request);
    const origin = request.headers.get("origin");
    if (origin !== null && origin !== ownOrigin(request)) {
      throw refusal(`Pages from ${origin.slice(0, 200)} may not use this. Programs send no Origin header.`);
    }
    if (!this.#hasToken(request)) this.#refuseOtherUser(request);
  }

  /** Throws where the caller may not change things. */
  authorize(request: Request): void {
    const origin = request.headers.get("origin");
    if (origin !== null && origin !== ownOrigin(request)) {
      throw refusal(`Pages from ${origin.slice(0, 200)} may not change anything. Use this server's own page.`);
    }
    if (this.#hasToken(request)) return;
    const where = "Send the token of server.json as `Authorization: Bearer <token>`.";
    throw new AsyncAgentsError("not_authorized", `Changing things needs the token. ${where}`);
  }

  /** Throws where the asker is not this server's own page in a browser. */
  admitOwnPage(request: Request): void {
    if (request.headers.get("sec-fetch-site") !== "same-origin") {
      throw refusal("Only this server's own page gets the token here. Others find it in server.json.");
    }
    this.#refuseOtherUser(request);
  }

  #hasToken(request: Request): boolean {
    const given = Buffer.from(request.headers.get("authorization") ?? "");
    return given.length === this.#token.length && timingSafeEqual(given, this.#token);
  }

  #refuseOtherUser(request: Request): void {
    if (!this.#isOtherUser(request)) return;
    throw refusal(
      "This server belongs to another user of this machine. Only who has the token of server.json may use it.",
    );
  }
}

function ownOrigin(request: Request): string {
  return `http://${request.headers.get("host") ?? ""}`;
}

function isLoopback(origin: string): boolean {
  try {
    return LOOPBACK.has(new URL(origin).hostname);
  } catch {
    return false;
  }
}

function refusal(message: string): AsyncAgentsError {
  return new AsyncAgentsError("not_allowed", message);
}
