/** OpenCode as an ACP agent. */
import { dirname } from "node:path";
import { startOpenAiModel } from "../../../../src/testing/models/openai-model.ts";
import { call } from "../../../../src/testing/models/script.ts";
import { openCodeBinary } from "../../../../src/testing/opencode/binary.ts";
import { modelsFile, prepareHome } from "../../../../src/testing/opencode/home.ts";
import type { TestedAgent } from "./tested-agent.ts";

const shell = (command: string) => call("bash", { command, description: "Runs a command" });

export const opencode: TestedAgent = {
  name: "opencode",
  showTool: "bash",
  async prepare({ home }) {
    const model = startOpenAiModel();
    const permission = { "*": "allow", bash: { "*": "allow", "touch *": "ask" } };
    await prepareHome(home, { model, permission });
    const quiet = {
      OPENCODE_DISABLE_AUTOUPDATE: "1",
      OPENCODE_DISABLE_MODELS_FETCH: "1",
      OPENCODE_DISABLE_LSP_DOWNLOAD: "1",
      OPENCODE_MODELS_PATH: modelsFile(home),
    };
    return {
      model,
      environment: { ...quiet, PATH: `${dirname(openCodeBinary())}:${process.env.PATH ?? ""}` },
      settings: {},
    };
  },
  show: (file) => shell(`cat ${file}`),
  touch: (file) => shell(`touch ${file}`),
  readMissing: (filePath) => call("read", { filePath }),
};
