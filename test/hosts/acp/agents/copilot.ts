/** GitHub Copilot with a provider of its own choice, without a login. */
import { startOpenAiModel } from "../../../../src/testing/models/openai-model.ts";
import { call } from "../../../../src/testing/models/script.ts";
import { pathWith } from "../installed-agents.ts";
import type { TestedAgent } from "./tested-agent.ts";

const shell = (command: string) => call("bash", { command, description: "Runs a command" });

export const copilot: TestedAgent = {
  name: "copilot",
  showTool: "read",
  empties: 6,
  async prepare() {
    const model = startOpenAiModel();
    const own = {
      COPILOT_PROVIDER_BASE_URL: model.url,
      COPILOT_PROVIDER_API_KEY: "none",
      COPILOT_MODEL: "scripted",
      COPILOT_OFFLINE: "true",
      COPILOT_AUTO_UPDATE: "false",
    };
    return {
      model,
      environment: { PATH: pathWith("copilot"), ...own },
      settings: {},
    };
  },
  // Its shell always asks.
  show: (path) => call("view", { path }),
  touch: (file) => shell(`touch ${file}`),
  readMissing: (path) => call("view", { path }),
};
