/**
 * Message ids in OpenCode's format, so that a test knows the id of its prompt before it sends it. Invariant: these ids
 * sort by time among OpenCode's own. The 48 bits of time wrap every 2^36 ms (about 26 months), as OpenCode's do.
 * Creates no other ids: only OpenCode assigns session ids.
 */
const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
let lastTime = 0;
let counter = 0;

export function newMessageId(now: number = Date.now()): string {
  counter = now === lastTime ? counter + 1 : 1;
  lastTime = now;
  const time = BigInt.asUintN(48, BigInt(now) * 4096n + BigInt(counter));
  const random = Array.from(crypto.getRandomValues(new Uint8Array(14)), (byte) => alphabet[byte % alphabet.length]);
  return `msg_${time.toString(16).padStart(12, "0")}${random.join("")}`;
}
