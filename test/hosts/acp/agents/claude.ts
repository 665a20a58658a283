/** Claude Code behind its ACP adapter. */
import { join } from "node:path";
import { startAnthropicModel } from "../../../../src/testing/models/anthropic-model.ts";
import { call, fail } from "../../../../src/testing/models/script.ts";
import { pathWith } from "../installed-agents.ts";
import type { TestedAgent } from "./tested-agent.ts";

const shell = (command: string) => call("Bash", { command, description: "Runs a command" });

export const claude: TestedAgent = {
  name: "claude",
  showTool: "Bash",
  empties: 2,
  async prepare({ home }) {
    const model = startAnthropicModel();
    const environment = {
      PATH: pathWith("claude"),
      CLAUDE_CONFIG_DIR: join(home, ".claude"),
      ANTHROPIC_BASE_URL: model.url,
      ANTHROPIC_API_KEY: "none",
      DISABLE_TELEMETRY: "1",
      DISABLE_ERROR_REPORTING: "1",
      DISABLE_AUTOUPDATER: "1",
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      CLAUDE_CODE_DISABLE_EXPERIMENTAL_BETAS: "1",
    };
    const settings = { permissions: { allow: ["Bash(cat *)", "Bash(sleep *)", "Read"] } };
    await Bun.write(join(home, ".claude", "settings.json"), JSON.stringify(settings));
    return { model, environment, settings: { mode: "default" } };
  },
  show: (file) => shell(`cat ${file}`),
  touch: (file) => shell(`touch ${file}`),
  readMissing: (file_path) => call("Read", { file_path }),
  question(text) {
    const options = ["yes", "no"].map((label) => ({ label, description: label }));
    return call("AskUserQuestion", { questions: [{ question: text, header: "Asked", multiSelect: false, options }] });
  },
  retry: (reason, times) => [fail(529, reason, { times })],
};
