/**
 * Counts wrong tokens by network address, and tells when an address has to wait. Bounded: beyond that many addresses
 * the one that failed longest ago is forgotten. Tokens cannot be guessed: this limits the work that trying causes.
 */
import { isIPv6 } from "node:net";

const WINDOW_MS = 60_000;
const MOST_TRIES = 20;
const MOST_ADDRESSES = 10_000;

interface Tries {
  since: number;
  count: number;
}

export class FailedTries {
  readonly #now: () => number;
  readonly #byAddress = new Map<string, Tries>();

  constructor(now: () => number) {
    this.#now = now;
  }

  get size(): number {
    return this.#byAddress.size;
  }

  /** How long the address has to wait, in ms; 0 if it may try. */
  waitOf(address: string): number {
    const tries = this.#byAddress.get(networkOf(address));
    if (tries === undefined || tries.count < MOST_TRIES) return 0;
    return Math.max(0, tries.since + WINDOW_MS - this.#now());
  }

  /** Returns how often the address has failed in this window. */
  add(address: string): number {
    const key = networkOf(address);
    const known = this.#byAddress.get(key);
    const now = this.#now();
    const tries = known && now < known.since + WINDOW_MS ? known : { since: now, count: 0 };
    tries.count++;
    // Again at the end: the first one is then the one that failed longest ago.
    this.#byAddress.delete(key);
    this.#byAddress.set(key, tries);
    const [oldest] = this.#byAddress.keys();
    if (this.#byAddress.size > MOST_ADDRESSES && oldest !== undefined) this.#byAddress.delete(oldest);
    return tries.count;
  }
}

/** One machine usually has a whole /64 of IPv6 addresses. An IPv4 address may come in an IPv6 form. */
function networkOf(address: string): string {
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, "");
  if (!isIPv6(plain)) return plain;
  const [head = "", tail = ""] = plain.split("%")[0]?.split("::") ?? [];
  const first = head === "" ? [] : head.split(":");
  const last = tail === "" ? [] : tail.split(":");
  const zeros = plain.includes("::") ? Array(Math.max(0, 8 - first.length - last.length)).fill("0") : [];
  return [...first, ...zeros, ...last].slice(0, 4).join(":");
}
