/**
 * Creates Claude hosts: one per directory, all with the same ledger. Each run has its own CLI process, so there is no
 * program to keep alive here. By default edits are accepted; any other permission that Claude requests waits for a
 * person.
 */
import { loadSdk } from "../../claude/sdk.ts";
import { AsyncAgentsError, messageOf } from "../../model/errors.ts";
import type { HostMaker, OpenedHost } from "../host-maker.ts";
import { type ClaudeHost, type ClaudeHostOptions, claudeHost } from "./claude-host.ts";
import { findClaude } from "./program.ts";

type Options = NonNullable<ClaudeHostOptions["options"]>;

interface ClaudeHostsOptions {
  /** A dedicated folder for the ledger. */
  folder: string;
  /** The complete environment of the CLI; defaults to that of this process. */
  environment?: Record<string, string | undefined>;
  /** Additional Claude Agent SDK options for every session. */
  options?: Options;
  log: { error(message: string, details?: Record<string, unknown>): void };
}

interface ClaudeHosts extends HostMaker {
  readonly kind: "claude";
}

export function claudeHosts({ folder, environment = process.env, options = {}, log }: ClaudeHostsOptions): ClaudeHosts {
  const hosts = new Set<ClaudeHost>();
  const close = async (host: ClaudeHost) => {
    hosts.delete(host);
    const failed = (thrown: unknown) => log.error("Claude did not shut down properly", { error: messageOf(thrown) });
    await host.close().catch(failed);
  };
  return {
    kind: "claude",
    async problem() {
      try {
        await loadSdk();
        return null;
      } catch (thrown) {
        return messageOf(thrown);
      }
    },
    async open(directory): Promise<OpenedHost> {
      const mode = options.permissionMode ?? "acceptEdits";
      const sdkOptions = { ...options, permissionMode: mode, ...(mode === "bypassPermissions" && DANGEROUS) };
      const host = claudeHost({ directory, folder, environment, options: sdkOptions });
      hosts.add(host);
      return { host, close: () => close(host) };
    },
    async attach({ sessionId }) {
      const program = findClaude(environment);
      if (program === null) {
        const message =
          "There is no program `claude` on PATH. Install Claude Code: npm install -g @anthropic-ai/claude-code";
        throw new AsyncAgentsError("host_unavailable", message);
      }
      const own = ["HOME", "CLAUDE_CONFIG_DIR"].flatMap((name) => {
        const value = environment[name];
        return value === undefined ? [] : [[name, value] as const];
      });
      return { program, arguments: ["--resume", sessionId], environment: Object.fromEntries(own) };
    },
    async stop() {
      await Promise.all([...hosts].map(close));
    },
  };
}

/** The SDK requires this as a second confirmation. */
const DANGEROUS = { allowDangerouslySkipPermissions: true };
