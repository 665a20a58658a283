/**
 * Ids in OpenCode's format: a prefix, the time in twelve hex digits, fourteen random characters. OpenCode orders
 * messages by id, so a new id must sort after the existing messages and before its answers: within one millisecond our
 * counter therefore starts above the values that OpenCode uses.
 */
const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const FIRST = 0x800;

let lastTime = 0;
let counter = FIRST;

export function newOpenCodeId(prefix: "msg" | "prt", now: number = Date.now()): string {
  counter = now === lastTime ? Math.min(counter + 1, 0xfff) : FIRST;
  lastTime = now;
  const value = (BigInt(now) * 0x1000n + BigInt(counter)) & 0xffff_ffff_ffffn;
  const random = crypto.getRandomValues(new Uint8Array(14));
  const tail = Array.from(random, (byte) => ALPHABET[byte % ALPHABET.length]).join("");
  return `${prefix}_${value.toString(16).padStart(12, "0")}${tail}`;
}
