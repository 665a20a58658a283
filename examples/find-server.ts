/** Where the newest server of this machine is, and the token for it: each server writes them to the data folder. */
import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

export function findServer(): { url: string; token: string } {
  const folder = process.env.ASYNCAGENTS_HOME || join(homedir(), ".opencode/plugins/background-agent");
  return JSON.parse(readFileSync(join(folder, "server.json"), "utf8"));
}
