/**
 * Installs the ACP agents that tests run, in pinned versions, into a cache outside of this project: they are large, and
 * no part of the package. A folder with an agent is complete, since it is renamed to its place when npm is done.
 */
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";

/** Package and version by the agent's name. Some need a newer Node than this project does. */
export const AGENT_PACKAGES = {
  node: ["node", "24.9.0"],
  claude: ["@agentclientprotocol/claude-agent-acp", "0.99.1"],
  codex: ["@agentclientprotocol/codex-acp", "2.6.0"],
  qwen: ["@qwen-code/qwen-code", "0.24.4"],
  gemini: ["@google/gemini-cli", "0.61.0"],
  copilot: ["@github/copilot", "1.0.102"],
} as const;

export type PackagedAgent = keyof typeof AGENT_PACKAGES;

const CACHE = process.env.ASYNCAGENTS_AGENTS_CACHE ?? join(homedir(), ".cache", "asyncagents", "agents");

export function agentFolder(name: PackagedAgent): string {
  return join(CACHE, `${name}@${AGENT_PACKAGES[name][1]}`);
}

/** Those that `npm test` runs: the ones that cost the least processor time. */
export const TESTED_BY_DEFAULT: readonly PackagedAgent[] = ["node", "codex", "claude", "copilot"];

/** Installs those that are missing. Throws if npm fails, with what to do. */
export async function installAgents(names: readonly PackagedAgent[]): Promise<void> {
  for (const name of names) {
    const folder = agentFolder(name);
    if (existsSync(folder)) continue;
    await mkdir(CACHE, { recursive: true });
    const draft = await mkdtemp(join(CACHE, `${name}-`));
    try {
      await install(AGENT_PACKAGES[name].join("@"), draft);
      // Another run may have been faster; then its folder is as good.
      await rename(draft, folder).catch(() => {});
    } finally {
      await rm(draft, { recursive: true, force: true });
    }
  }
}

async function install(what: string, folder: string): Promise<void> {
  console.error(`Installing ${what} for tests, into ${CACHE}.`);
  await writeFile(join(folder, "package.json"), "{}");
  // A registry that cannot be reached is reported in a minute, not in five.
  const options = ["--no-audit", "--no-fund", "--engine-strict=false", "--loglevel=error", "--fetch-retries=1"];
  const npm = Bun.spawn(["npm", "install", "--prefix", folder, ...options, "--fetch-timeout=60000", what], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  if ((await npm.exited) === 0) return;
  const next = `Is the npm registry reachable (\`npm ping\`)? It is needed once; you can also copy ${CACHE} from another machine, or name such a folder in ASYNCAGENTS_AGENTS_CACHE.`;
  throw new Error(`npm could not install ${what}. ${next}`);
}
