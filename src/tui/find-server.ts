/**
 * Finds the server that the panel talks to: the one of the options, else the one of this process (OpenCode runs the
 * plugin in a thread of its own), else the newest on this machine. `src/http/discovery.ts` writes these files; only two
 * fields are read here, without its schema, because OpenCode waits for what this file imports.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";

export interface ServerAddress {
  url: string;
  token: string;
}

export function findServer(directory: string, pid: number): ServerAddress | null {
  return read(join(directory, "servers", `${pid}.json`)) ?? read(join(directory, "server.json"));
}

function read(file: string): ServerAddress | null {
  try {
    const { url, token } = JSON.parse(readFileSync(file, "utf8")) as Partial<ServerAddress>;
    return typeof url === "string" && typeof token === "string" && URL.canParse(url) ? { url, token } : null;
  } catch {
    return null;
  }
}
