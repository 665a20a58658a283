/**
 * Makes Claude hosts: one for each directory, over one ledger. Each run has a CLI process of its own, so there is no program to
 * keep alive here. Edits are accepted unless something else is asked for; what Claude asks besides waits for a person.
 */
import { loadSdk } from "../../claude/sdk.ts";
import { AsyncAgentsError, messageOf } from "../../model/errors.ts";
import type { HostMaker, OpenedHost } from "../host-maker.ts";
import { type ClaudeHost, type ClaudeHostOptions, claudeHost } from "./claude-host.ts";

type Options = NonNullable<ClaudeHostOptions["options"]>;
type PermissionMode = NonNullable<Options["permissionMode"]>;

const MODES: readonly PermissionMode[] = ["default", "acceptEdits", "bypassPermissions", "plan", "dontAsk", "auto"];

export interface ClaudeHostsOptions {
  /** Where the ledger is kept: a folder of its own. */
  folder: string;
  /** The whole environment of the CLI; this process's by default. ASYNCAGENTS_CLAUDE_PERMISSION_MODE in it is heeded. */
  environment?: Record<string, string | undefined>;
  /** Further options of the Claude Agent SDK for every session. */
  options?: Options;
  log: { error(message: string, details?: Record<string, unknown>): void };
}

export interface ClaudeHosts extends HostMaker {
  readonly kind: "claude";
}

export function claudeHosts({ folder, environment = process.env, options = {}, log }: ClaudeHostsOptions): ClaudeHosts {
  const hosts = new Set<ClaudeHost>();
  const close = async (host: ClaudeHost) => {
    hosts.delete(host);
    const failed = (thrown: unknown) =>
      log.error("Claude was not closed as it should be", { error: messageOf(thrown) });
    await host.close().catch(failed);
  };
  return {
    kind: "claude",
    async problem() {
      try {
        permissionMode(environment, options);
        await loadSdk();
        return null;
      } catch (thrown) {
        return messageOf(thrown);
      }
    },
    async open(directory): Promise<OpenedHost> {
      const mode = permissionMode(environment, options);
      const sdkOptions = { ...options, permissionMode: mode, ...(mode === "bypassPermissions" && DANGEROUS) };
      const host = claudeHost({ directory, folder, environment, options: sdkOptions });
      hosts.add(host);
      return { host, close: () => close(host) };
    },
    async stop() {
      await Promise.all([...hosts].map(close));
    },
  };
}

/** The SDK wants to be told twice. */
const DANGEROUS = { allowDangerouslySkipPermissions: true };

function permissionMode(environment: Record<string, string | undefined>, options: Options): PermissionMode {
  const wanted = options.permissionMode ?? (environment.ASYNCAGENTS_CLAUDE_PERMISSION_MODE || "acceptEdits");
  const found = MODES.find((mode) => mode === wanted);
  if (found) return found;
  const message = `ASYNCAGENTS_CLAUDE_PERMISSION_MODE is "${wanted}": it must be one of ${MODES.join(", ")}.`;
  throw new AsyncAgentsError("invalid_input", message);
}
