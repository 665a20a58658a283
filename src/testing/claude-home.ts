/**
 * Provides the folders and the environment for a Claude CLI under test: its own HOME, configuration, temporary folder
 * and project. Invariant: nothing is read from or written to the developer's HOME, no setting of the developer's Claude
 * applies, and the CLI can reach only the scripted model. Does not start Claude.
 */
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { createProject, createTemporaryRoot } from "./opencode/home.ts";

export interface ClaudeHomeOptions {
  /** The scripted model, or any other server with the Messages API. */
  model: { url: string };
  /** A folder to use and keep; a temporary one by default. */
  root?: string;
  /** Overrides the defaults. */
  environment?: Record<string, string>;
}

export interface ClaudeHome {
  root: string;
  /** A git repository with a few files; the CLI's working directory. */
  directory: string;
  /** The complete environment of the CLI: it inherits nothing else from this process. */
  environment: Record<string, string>;
  /** Removes the folder, if it was created here. */
  remove(): Promise<void>;
}

export async function claudeEnvironment(options: ClaudeHomeOptions): Promise<ClaudeHome> {
  const root = options.root ?? (await createTemporaryRoot());
  const at = (name: string) => join(root, name);
  for (const name of ["home", "claude", "tmp", "project"]) await mkdir(at(name), { recursive: true });
  const directory = await createProject(at("project"));
  const { PATH = "", LANG = "C.UTF-8" } = process.env;
  return {
    root,
    directory,
    environment: {
      PATH,
      LANG,
      SHELL: "/bin/bash",
      HOME: at("home"),
      CLAUDE_CONFIG_DIR: at("claude"),
      CLAUDE_CODE_TMPDIR: at("tmp"),
      TMPDIR: at("tmp"),
      ANTHROPIC_BASE_URL: options.model.url,
      ANTHROPIC_API_KEY: "none",
      ...quiet,
      ...options.environment,
    },
    async remove() {
      if (options.root === undefined) await rm(root, { recursive: true, force: true });
    },
  };
}

const quiet = {
  DISABLE_TELEMETRY: "1",
  DISABLE_ERROR_REPORTING: "1",
  DISABLE_AUTOUPDATER: "1",
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
  // Otherwise a rejected request is retried up to five times with fewer betas each time, which would use up a scripted
  // 400.
  CLAUDE_CODE_DISABLE_EXPERIMENTAL_BETAS: "1",
  // As root, the CLI skips permissions only if it believes that it is in a sandbox.
  IS_SANDBOX: "1",
};
