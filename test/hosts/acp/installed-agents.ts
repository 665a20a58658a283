/**
 * Where the programs of ACP agents are for tests: pinned versions from npm, in a cache outside of this project. They
 * are installed before the tests run (`scripts/testing/acp-agents.ts`); nothing is installed here.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { AGENT_PACKAGES, agentFolder, type PackagedAgent } from "../../../scripts/testing/acp-agents.ts";

/** A PATH with the agent's program, and with a Node that is new enough for it. */
export function pathWith(name: PackagedAgent): string {
  const folders = [name, "node" as const].map((each) => join(agentFolder(each), "node_modules", ".bin"));
  const missing = folders.find((folder) => !existsSync(folder));
  if (missing !== undefined) {
    throw new Error(
      `${AGENT_PACKAGES[name].join("@")} is not installed in ${missing}. Run: npm run agents -- --install`,
    );
  }
  return [...folders, process.env.PATH ?? ""].join(":");
}
