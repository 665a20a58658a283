/**
 * Which user of this machine has the other end of a connection, as the kernel says. Known on Linux only: elsewhere every program
 * on the machine counts as the user's own. Read where it is asked for, which is seldom.
 */
import { readFileSync } from "node:fs";

/** Null where it cannot be told. */
export function userOfPeer(peerPort: number, ownPort: number): number | null {
  for (const file of ["/proc/net/tcp", "/proc/net/tcp6"]) {
    const user = userIn(read(file), peerPort, ownPort);
    if (user !== null) return user;
  }
  return null;
}

/** In the kernel's table of connections, the row whose own end is the peer's. */
export function userIn(table: string, peerPort: number, ownPort: number): number | null {
  for (const row of table.split("\n")) {
    const [, local = "", remote = "", , , , , user = ""] = row.trim().split(/\s+/);
    if (portOf(local) === peerPort && portOf(remote) === ownPort && /^\d+$/.test(user)) return Number(user);
  }
  return null;
}

function portOf(address: string): number {
  return Number.parseInt(address.split(":")[1] ?? "", 16);
}

function read(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
