/**
 * Which user owns the other end of a connection, according to the kernel's connection table. Linux only. Invariant:
 * an answer means that exactly this connection is open and its socket belongs to that user; anything uncertain is
 * null. Closed and orphaned connections are listed as root's, so only open ones with a socket count.
 */
import { readFileSync } from "node:fs";
import { endianness } from "node:os";

interface Endpoint {
  /** IPv4: the server listens on nothing else. */
  address: string;
  port: number;
}

/** The prefix of an IPv4 address in the second table: a program may use an IPv6 socket for it. */
const TABLES = [
  { file: "/proc/net/tcp", prefix: "" },
  {
    file: "/proc/net/tcp6",
    prefix: endianness() === "LE" ? "0000000000000000FFFF0000" : "00000000000000000000FFFF",
  },
];
const ESTABLISHED = "01";
/** The kernel delivers the table in pieces, so a row can be missing while other rows come and go. */
const READS = 2;

/** Null if it is not certain. */
export function userOfPeer(peer: Endpoint, own: Endpoint): number | null {
  for (let read = 0; read < READS; read++) {
    // Each read walks over all connections of the kernel, and the second table is rarely needed.
    for (const { file, prefix } of TABLES) {
      const found = userIn(readTable(file), peer, own, prefix);
      if (found !== "absent") return found;
    }
  }
  return null;
}

/** The owner of the row whose local end is the peer's and whose remote end is ours; null if it is not certain. */
export function userIn(table: string, peer: Endpoint, own: Endpoint, prefix = ""): number | null | "absent" {
  const [local, remote] = [entryOf(peer), entryOf(own)];
  if (local === null || remote === null) return null;
  const [owner, ...others] = new Set(ownersOf(table, `: ${prefix}${local} ${prefix}${remote} `));
  if (owner === undefined) return "absent";
  const [state, user = "", inode = ""] = owner.split(" ");
  const certain = others.length === 0 && state === ESTABLISHED && /^\d+$/.test(user) && /^[1-9]\d*$/.test(inode);
  return certain ? Number(user) : null;
}

/** The id that the kernel shows for all users outside of this process's user namespace; null if there is none. */
export function unknownUser(): number | null {
  const text = readTable("/proc/sys/kernel/overflowuid").trim();
  return /^\d+$/.test(text) ? Number(text) : null;
}

/** The state, user and inode of each row with these two ends. */
function* ownersOf(table: string, ends: string): Generator<string> {
  for (let at = table.indexOf(ends); at >= 0; at = table.indexOf(ends, at + 1)) {
    const rest = table.slice(at + ends.length, table.indexOf("\n", at) >>> 0);
    const [state, , , , user, , inode] = rest.trim().split(/\s+/);
    yield `${state} ${user} ${inode}`;
  }
}

/** An address in the table's format: one number in the machine's byte order. */
function entryOf({ address, port }: Endpoint): string | null {
  const bytes = address.split(".").map(Number);
  if (bytes.length !== 4 || !bytes.every((byte) => Number.isInteger(byte) && byte >= 0 && byte <= 255)) return null;
  if (endianness() === "LE") bytes.reverse();
  return `${bytes.map((byte) => hex(byte, 2)).join("")}:${hex(port, 4)}`;
}

function hex(value: number, digits: number): string {
  return value.toString(16).toUpperCase().padStart(digits, "0");
}

function readTable(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
