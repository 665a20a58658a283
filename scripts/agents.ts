/**
 * `npm run agents`: installs the ACP agents that the tests know, in pinned versions, into a cache, and runs the host
 * suite and the failures of models on all of them, then Codex through MCP, the board and the command line. `npm test`
 * runs the suite on Codex, and parts of it on two more: the lightest. Arguments are names of agents; `-- --install`
 * only installs.
 */
import { dirname } from "node:path";
import { Glob } from "bun";
import { AGENT_PACKAGES, installAgents, type PackagedAgent } from "./testing/acp-agents.ts";

const root = dirname(import.meta.dir);

async function main(given: string[]): Promise<number> {
  const names = given.filter((each) => !each.startsWith("--"));
  await installAgents(Object.keys(AGENT_PACKAGES) as PackagedAgent[]);
  if (given.includes("--install")) return 0;
  const files = [...new Glob("test/hosts/acp/**/*.{test,check}.ts").scanSync({ cwd: root })].toSorted();
  const wanted = names.length === 0 ? files : files.filter((file) => names.some((name) => file.includes(name)));
  let code = 0;
  // One at a time: an agent takes up to half a gigabyte, and all of them many seconds to start.
  for (const file of wanted) {
    const test = Bun.spawn([process.execPath, "test", `./${file}`, "--timeout", "300000"], {
      cwd: root,
      stdio: ["ignore", "inherit", "inherit"],
    });
    code = Math.max(code, await test.exited);
  }
  return code;
}

process.exit(await main(process.argv.slice(2)));
