/** The Gemini CLI. */
import { join } from "node:path";
import { startGeminiModel } from "../../../../src/testing/models/gemini-model.ts";
import { call } from "../../../../src/testing/models/script.ts";
import { pathWith } from "../installed-agents.ts";
import type { TestedAgent } from "./tested-agent.ts";

const shell = (command: string) => call("run_shell_command", { command, description: "Runs a command" });

export const gemini: TestedAgent = {
  name: "gemini",
  showTool: "run_shell_command",
  empties: 6,
  async prepare({ home }) {
    const model = startGeminiModel();
    const settings = {
      security: { auth: { selectedType: "gemini-api-key" } },
      general: { disableAutoUpdate: true, enableAutoUpdate: false },
      privacy: { usageStatisticsEnabled: false },
    };
    await Bun.write(join(home, ".gemini", "settings.json"), JSON.stringify(settings));
    const allow = (prefix: string) =>
      `[[rule]]\ntoolName = "run_shell_command"\ncommandPrefix = "${prefix}"\ndecision = "allow"\npriority = 200\n`;
    await Bun.write(join(home, ".gemini", "policies", "test.toml"), ["cat", "sleep"].map(allow).join("\n"));
    const own = { GOOGLE_GEMINI_BASE_URL: model.url, GEMINI_API_KEY: "none" };
    return { model, environment: { PATH: pathWith("gemini"), ...own }, settings: {} };
  },
  show: (file) => shell(`cat ${file}`),
  touch: (file) => shell(`touch ${file}`),
  readMissing: (file_path) => call("read_file", { file_path }),
};
