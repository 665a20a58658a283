/** Qwen Code. */
import { join } from "node:path";
import { startOpenAiModel } from "../../../../src/testing/models/openai-model.ts";
import { call } from "../../../../src/testing/models/script.ts";
import { pathWith } from "../installed-agents.ts";
import type { TestedAgent } from "./tested-agent.ts";

const shell = (command: string) =>
  call("run_shell_command", { command, is_background: false, description: "Runs a command" });

export const qwen: TestedAgent = {
  name: "qwen",
  showTool: "run_shell_command",
  empties: 6,
  async prepare({ home }) {
    const model = startOpenAiModel();
    const settings = { security: { auth: { selectedType: "openai" } }, general: { disableAutoUpdate: true } };
    await Bun.write(join(home, ".qwen", "settings.json"), JSON.stringify(settings));
    const own = { OPENAI_BASE_URL: model.url, OPENAI_API_KEY: "none", OPENAI_MODEL: "scripted" };
    return { model, environment: { PATH: pathWith("qwen"), ...own }, settings: {} };
  },
  show: (file) => shell(`cat ${file}`),
  touch: (file) => shell(`touch ${file}`),
  readMissing: (file_path) => call("read_file", { file_path }),
  question(text) {
    const options = ["yes", "no"].map((label) => ({ label, description: label }));
    return call("ask_user_question", { questions: [{ question: text, header: "Asked", multiSelect: false, options }] });
  },
};
