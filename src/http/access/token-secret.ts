/**
 * The secret of an access token: 32 random bytes behind a fixed prefix, by which people and secret scanners recognize
 * it. Only its hash is stored.
 */
import { createHash } from "node:crypto";

const PREFIX = "aat_";
const SECRET = /^aat_[\w-]{43}$/;

export function newTokenSecret(): string {
  return PREFIX + Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString("base64url");
}

/** False for text that cannot be one: it is rejected without asking the store. */
export function isTokenSecret(text: string): boolean {
  return SECRET.test(text);
}

/**
 * SHA-256, without salt and without a slow function such as scrypt: those protect secrets that people choose, which can
 * be guessed from a list. These are 256 random bits, so nobody finds one by its hash, and every request can afford it.
 * Tokens are looked up by this hash. How long that takes depends on the hash of what was sent, never on a stored
 * secret, so it tells nothing that helps to guess one.
 */
export function hashOfSecret(secret: string): string {
  return createHash("sha256").update(secret).digest("hex");
}
