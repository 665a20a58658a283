/**
 * Guards the door to this machine: programs of the same user may call, and whoever has the token. Web pages are
 * restricted further: a page from elsewhere must not read transcripts, under whatever host name it reaches this address
 * (DNS rebinding), and changes always need the token. Invariant: an unidentified caller is rejected. This does not
 * protect against programs of the same user: they can read the token.
 */
import { timingSafeEqual } from "node:crypto";
import { AsyncAgentsError } from "../../model/errors.ts";
import type { Caller, Guard } from "./guard.ts";

const LOOPBACK = new Set(["localhost", "127.0.0.1", "[::1]"]);
/** How browsers mark requests that another page caused. `none` means typed or bookmarked. */
const OTHER_SITES = new Set(["cross-site", "same-site"]);

const LOCAL: Caller = { token: null };
const TOKENLESS: Caller = { token: null, isTokenless: true };

interface LocalGuardOptions {
  token: string;
  /** Further origins whose pages may read, besides those of this machine; from ASYNCAGENTS_API_ORIGINS. */
  origins: readonly string[];
  /** True if the request certainly comes from a program of this process's user. */
  isOwnUser(request: Request): boolean;
}

export class LocalGuard implements Guard {
  readonly #token: Buffer;
  readonly #origins: ReadonlySet<string>;
  readonly #isOwnUser: LocalGuardOptions["isOwnUser"];

  constructor({ token, origins, isOwnUser }: LocalGuardOptions) {
    this.#isOwnUser = isOwnUser;
    this.#token = Buffer.from(`Bearer ${token}`);
    this.#origins = new Set(origins);
  }

  /** Rejects pages from elsewhere. Enough for the dashboard's own files, which contain no data. */
  admitOrigin(request: Request): void {
    const host = request.headers.get("host") ?? "";
    if (!isLoopback(`http://${host}`)) {
      throw refusal(`This server answers on this machine only; the request came for the host "${host.slice(0, 100)}".`);
    }
    const origin = request.headers.get("origin");
    if (origin === null || isLoopback(origin) || this.#origins.has(origin)) return;
    const remedy = "List the origin in ASYNCAGENTS_API_ORIGINS to allow it.";
    throw refusal(`Pages from ${origin.slice(0, 200)} may not read this server. ${remedy}`);
  }

  admitAnyone(): Caller {
    return TOKENLESS;
  }

  /** Rejects callers that may not read. */
  admit(request: Request): Caller {
    this.admitOrigin(request);
    const site = request.headers.get("sec-fetch-site") ?? "";
    if (OTHER_SITES.has(site) && !request.headers.has("origin")) {
      throw refusal("Other pages may not load this. Open the address itself, or use this server's own page.");
    }
    if (this.#hasToken(request)) return LOCAL;
    if (this.#isOwnUser(request)) return TOKENLESS;
    const program = "Programs send the token of server.json as `Authorization: Bearer <token>`";
    throw refusal(
      `This server cannot tell that you are its user. ${program}; for the page, use the link that \`asyncagents link\` prints.`,
    );
  }

  /** Rejects pages other than this server's own (programs send no origin), and callers that may not read. */
  admitProgram(request: Request): Caller {
    this.admitOrigin(request);
    const origin = request.headers.get("origin");
    if (origin !== null && origin !== ownOrigin(request)) {
      throw refusal(`Pages from ${origin.slice(0, 200)} may not use this. Programs send no Origin header.`);
    }
    return this.admit(request);
  }

  /** Rejects callers that may not change anything. */
  authorize(request: Request): Caller {
    this.admitOrigin(request);
    const origin = request.headers.get("origin");
    if (origin !== null && origin !== ownOrigin(request)) {
      throw refusal(`Pages from ${origin.slice(0, 200)} may not change anything. Use this server's own page.`);
    }
    if (this.#hasToken(request)) return LOCAL;
    const where = "Send the token of server.json as `Authorization: Bearer <token>`.";
    throw new AsyncAgentsError("not_authorized", `Changing things needs the token. ${where}`);
  }

  /** Rejects everyone but this server's own page in a browser of its own user. */
  admitOwnPage(request: Request): void {
    this.admit(request);
    if (request.headers.get("sec-fetch-site") === "same-origin") return;
    throw refusal("Only this server's own page gets the token here. Others find it in server.json.");
  }

  #hasToken(request: Request): boolean {
    const given = Buffer.from(request.headers.get("authorization") ?? "");
    return given.length === this.#token.length && timingSafeEqual(given, this.#token);
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
