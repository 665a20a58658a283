/**
 * Guards the door to other machines: only tokens count, and only in the Authorization header, which no page of another
 * site can make a browser send. Nothing is taken from the URL, a cookie or the connection's user. Invariant: a caller
 * without a token that works gets nothing but the dashboard's own files. The secret is hashed at once, never logged.
 */
import { isIP } from "node:net";
import type { TokenCheck } from "../../engine/access/token-check.ts";
import { AsyncAgentsError } from "../../model/errors.ts";
import type { Log } from "../../process/log.ts";
import { FailedTries } from "./failed-tries.ts";
import type { Caller, Guard } from "./guard.ts";
import { hashOfSecret, isTokenSecret } from "./token-secret.ts";

/** One credential only. Several Authorization headers arrive as one, joined by commas, and are rejected. */
const BEARER = /^Bearer +(\S+)$/i;
/** Tokens that worked here lately. */
const MOST_KNOWN = 1000;

interface TokenGuardOptions {
  tokens: TokenCheck;
  /** The addresses under which browsers reach this door, such as `https://agents.example.org`. */
  publicUrls: readonly string[];
  /** The network address of a caller. */
  addressOf(request: Request): string;
  log: Log;
  now(): number;
}

export class TokenGuard implements Guard {
  readonly #options: TokenGuardOptions;
  readonly #hosts: ReadonlySet<string>;
  readonly #origins: ReadonlySet<string>;
  readonly #failed: FailedTries;
  readonly #known = new Set<string>();

  constructor(options: TokenGuardOptions) {
    this.#options = options;
    this.#hosts = new Set(options.publicUrls.map((url) => new URL(url).host));
    this.#origins = new Set(options.publicUrls.map((url) => new URL(url).origin));
    this.#failed = new FailedTries(options.now);
  }

  /**
   * A name that is not listed may be a stranger's that leads here (DNS rebinding). An address cannot be: whoever uses
   * it means this machine.
   */
  admitOrigin(request: Request): void {
    const host = request.headers.get("host") ?? "";
    const isListed = this.#hosts.has(host.toLowerCase());
    if (!isListed && !isAddress(host)) {
      const remedy = "Start it with --public-url and the address that browsers use.";
      throw refusal(`This server does not answer for the host "${host.slice(0, 100)}". ${remedy}`);
    }
    const origin = request.headers.get("origin");
    if (origin === null || this.#origins.has(origin) || (!isListed && origin === `http://${host}`)) return;
    throw refusal(`Pages from ${origin.slice(0, 200)} may not use this server. Use its own page.`);
  }

  admitAnyone(request: Request): Promise<Caller> {
    return this.admit(request);
  }

  async admit(request: Request): Promise<Caller> {
    this.admitOrigin(request);
    const secret = BEARER.exec(request.headers.get("authorization") ?? "")?.[1];
    if (secret === undefined) {
      const how = "Send one as `Authorization: Bearer <token>`; `asyncagents token create` on the server makes one.";
      throw new AsyncAgentsError("not_authorized", `This server needs a token. ${how}`);
    }
    return this.#callerWith(secret, this.#options.addressOf(request));
  }

  admitProgram(request: Request): Promise<Caller> {
    return this.admit(request);
  }

  authorize(request: Request): Promise<Caller> {
    return this.admit(request);
  }

  admitOwnPage(): void {
    throw new AsyncAgentsError("not_authorized", "Sign in with a token: this server gives none to its page.");
  }

  async #callerWith(secret: string, address: string): Promise<Caller> {
    const { tokens } = this.#options;
    const hash = hashOfSecret(secret);
    // Callers behind one proxy may share an address: those with a good token need not wait for the others.
    const wait = this.#known.has(hash) ? 0 : this.#failed.waitOf(address);
    if (wait > 0) {
      const message = `Too many wrong tokens came from your address. Try again in ${Math.ceil(wait / 1000)} s.`;
      throw new AsyncAgentsError("too_many_requests", message);
    }
    const token = isTokenSecret(secret) ? await tokens.usable(hash) : null;
    if (token === null) throw this.#failure(hash, address);
    this.#remember(hash);
    const { name, role } = token;
    return { token: { name, role }, isWelcome: async () => (await tokens.usable(hash)) !== null };
  }

  #failure(hash: string, address: string): AsyncAgentsError {
    this.#known.delete(hash);
    // Once for each address and minute: the log must not grow with the tries.
    if (this.#failed.add(address) === 1) this.#options.log.info("a token was rejected", { address });
    const message = "This token does not work: it is wrong, was revoked, or has expired. Ask for a new one.";
    return new AsyncAgentsError("not_authorized", message);
  }

  #remember(hash: string): void {
    this.#known.delete(hash);
    this.#known.add(hash);
    const [oldest] = this.#known;
    if (this.#known.size > MOST_KNOWN && oldest !== undefined) this.#known.delete(oldest);
  }
}

function isAddress(host: string): boolean {
  if (!/^[\w.:[\]-]+$/.test(host)) return false;
  try {
    const { hostname } = new URL(`http://${host}`);
    return hostname === "localhost" || isIP(hostname.replace(/^\[|\]$/g, "")) !== 0;
  } catch {
    return false;
  }
}

function refusal(message: string): AsyncAgentsError {
  return new AsyncAgentsError("not_allowed", message);
}
