/**
 * Which user of this machine has the other end of a connection, as the kernel's table of connections says. Known on Linux only.
 * Invariant: an answer means that exactly this connection is open and that its socket belongs to that user; whatever cannot be told
 * is null. A closed or orphaned connection is listed as root's, so only open ones with a socket count.
 */
import { readFileSync } from "node:fs";
import { endianness } from "node:os";

export interface Endpoint {
  /** IPv4, which is all that the server listens on. */
  address: string;
  port: number;
}

/** The second: a program may have an IPv6 socket for an IPv4 address, which then has this before it. */
const TABLES = [
  { file: "/proc/net/tcp", prefix: "" },
  {
    file: "/proc/net/tcp6",
    prefix: endianness() === "LE" ? "0000000000000000FFFF0000" : "00000000000000000000FFFF",
  },
];
const ESTABLISHED = "01";
/** The kernel hands the table out in pieces, so a row may be missing when others come and go meanwhile. */
const READS = 2;

/** Null where it cannot be told. */
export function userOfPeer(peer: Endpoint, own: Endpoint): number | null {
  for (let read = 0; read < READS; read++) {
    // Each read walks over all of the kernel's connections; the second table is seldom needed.
    for (const { file, prefix } of TABLES) {
      const found = userIn(readTable(file), peer, own, prefix);
      if (found !== "absent") return found;
    }
  }
  return null;
}

/** Who has the row whose local end is the peer's and whose remote end is ours; null where that is not certain. */
export function userIn(table: string, peer: Endpoint, own: Endpoint, prefix = ""): number | null | "absent" {
  const [local, remote] = [entryOf(peer), entryOf(own)];
  if (local === null || remote === null) return null;
  const [owner, ...others] = new Set(ownersOf(table, `: ${prefix}${local} ${prefix}${remote} `));
  if (owner === undefined) return "absent";
  const [state, user = "", inode = ""] = owner.split(" ");
  const certain = others.length === 0 && state === ESTABLISHED && /^\d+$/.test(user) && /^[1-9]\d*$/.test(inode);
  return certain ? Number(user) : null;
}

/**
 * The user id that the kernel shows for users who do not exist in this process's user namespace: it stands for many. Null where
 * there is none.
 */
export function unknownUser(): number | null {
  const text = readTable("/proc/sys/kernel/overflowuid").trim();
  return /^\d+$/.test(text) ? Number(text) : null;
}

/** State, user and inode of each row with these two ends. */
function* ownersOf(table: string, ends: string): Generator<string> {
  for (let at = table.indexOf(ends); at >= 0; at = table.indexOf(ends, at + 1)) {
    const rest = table.slice(at + ends.length, table.indexOf("\n", at) >>> 0);
    const [state, , , , user, , inode] = rest.trim().split(/\s+/);
    yield `${state} ${user} ${inode}`;
  }
}

/** As the table writes it: the address as one number in the machine's own byte order. */
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
