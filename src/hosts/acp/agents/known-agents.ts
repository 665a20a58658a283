/**
 * The table of known ACP agents: how each is started and installed, and what was tested. Only those with a tested
 * version have a profile of their own; the others get the strict one. Data only.
 */
import type { ProfileName } from "../profiles/profiles.ts";

export interface KnownAgent {
  /** How people call it. */
  title: string;
  program: string;
  arguments: readonly string[];
  /** A command, or where to get it. */
  install: string;
  /** Its package on npm. */
  package?: string;
  /** The version that passes the conformance suite. */
  tested?: string;
  profile?: ProfileName;
  /** What it cannot do beyond what none of them can, for people who choose; docs/acp.md lists the same. */
  limits?: readonly string[];
}

/** From the protocol's own registry: how it is started is known, how it behaves is not. */
function untested(title: string, program: string, given: readonly string[], install: string): KnownAgent {
  return { title, program, arguments: given, install };
}

function npmAgent(title: string, name: string, rest: Omit<KnownAgent, "title" | "install" | "package">): KnownAgent {
  return { title, install: `npm install -g ${name}`, package: name, ...rest };
}

export const KNOWN_AGENTS: Readonly<Record<string, KnownAgent>> = {
  opencode: npmAgent("OpenCode", "opencode-ai", {
    program: "opencode",
    arguments: ["acp"],
    tested: "1.18.33",
    profile: "opencode",
    limits: ["asks no questions", "reports the tokens of its last model call only"],
  }),
  claude: npmAgent("Claude Code", "@agentclientprotocol/claude-agent-acp", {
    program: "claude-agent-acp",
    arguments: [],
    tested: "0.99.1",
    profile: "claude",
  }),
  codex: npmAgent("Codex", "@agentclientprotocol/codex-acp", {
    program: "codex-acp",
    arguments: [],
    tested: "2.6.0",
    profile: "codex",
    limits: ["asks no questions", "reports no cost"],
  }),
  qwen: npmAgent("Qwen Code", "@qwen-code/qwen-code", {
    program: "qwen",
    arguments: ["--acp"],
    tested: "0.24.4",
    profile: "qwen",
    limits: ["reports no cost", "its background agents end with its turn"],
  }),
  gemini: npmAgent("Gemini CLI", "@google/gemini-cli", {
    program: "gemini",
    arguments: ["--acp"],
    tested: "0.61.0",
    profile: "gemini",
    limits: [
      "asks no questions",
      "reports no cost",
      "cannot load a session in its first minute",
      "shows no shell output",
    ],
  }),
  copilot: npmAgent("GitHub Copilot", "@github/copilot", {
    program: "copilot",
    arguments: ["--acp"],
    tested: "1.0.102",
    profile: "copilot",
    limits: [
      "asks no questions",
      "reports no cost",
      "does not name its tools",
      "takes no MCP servers that are programs",
    ],
  }),
  amp: untested("Amp", "amp-acp", [], "see https://github.com/tao12345666333/amp-acp"),
  auggie: untested("Auggie", "auggie", ["--acp"], "npm install -g @augmentcode/auggie"),
  cline: untested("Cline", "cline", ["--acp"], "npm install -g cline"),
  codebuddy: untested("CodeBuddy", "codebuddy", ["--acp"], "npm install -g @tencent-ai/codebuddy-code"),
  cursor: untested("Cursor", "cursor-agent", ["acp"], "see https://cursor.com/docs/cli/acp"),
  devin: untested("Devin", "devin", ["acp"], "see https://docs.devin.ai/cli"),
  droid: untested("Factory Droid", "droid", ["exec", "--output-format", "acp"], "see https://factory.ai"),
  "fast-agent": untested("fast-agent", "fast-agent-acp", ["-x"], "uv tool install fast-agent-acp"),
  goose: untested("goose", "goose", ["acp"], "see https://block.github.io/goose"),
  junie: untested("Junie", "junie", ["--acp=true"], "see https://junie.jetbrains.com"),
  kilo: untested("Kilo", "kilo", ["acp"], "npm install -g @kilocode/cli"),
  kimi: untested("Kimi CLI", "kimi", ["acp"], "uv tool install kimi-cli"),
  qoder: untested("Qoder CLI", "qodercli", ["--acp"], "npm install -g @qoder-ai/qodercli"),
  stakpak: untested("Stakpak", "stakpak", ["acp"], "see https://github.com/stakpak/agent"),
  vibe: untested("Mistral Vibe", "vibe-acp", [], "uv tool install mistral-vibe"),
};
