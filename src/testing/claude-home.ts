/**
 * Owns the folders and the environment that a test Claude CLI lives in: its own HOME, configuration, temporary folder and project.
 * Invariant: nothing is read from or written to the developer's own HOME, no setting of the developer's Claude gets in, and
 * the scripted model is the only one it reaches. It starts no Claude.
 */
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { createProject, createTemporaryRoot } from "./opencode/home.ts";

export interface ClaudeHomeOptions {
  /** The scripted model, or anything else that speaks the Messages API. */
  model: { url: string };
  /** A folder to live in, kept at the end; a temporary one by default. */
  root?: string;
  /** Laid over the rest. */
  environment?: Record<string, string>;
}

export interface ClaudeHome {
  root: string;
  /** A git repository with a few files; the CLI's working directory. */
  directory: string;
  /** The whole environment of the CLI: it takes nothing else from this process. */
  environment: Record<string, string>;
  /** Removes the folder, if it was made here. */
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
  // A refused request is otherwise sent up to five times more, each time with fewer betas: a scripted 400 would be used up by them.
  CLAUDE_CODE_DISABLE_EXPERIMENTAL_BETAS: "1",
  // As root, the CLI skips permissions only where it believes itself in a sandbox.
  IS_SANDBOX: "1",
};
