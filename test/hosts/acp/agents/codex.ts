/** Codex behind its ACP adapter. */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { startResponsesModel } from "../../../../src/testing/models/responses-model.ts";
import { call } from "../../../../src/testing/models/script.ts";
import { pathWith } from "../installed-agents.ts";
import type { TestedAgent } from "./tested-agent.ts";

const shell = (command: string) => call("exec_command", { cmd: command });

export const codex: TestedAgent = {
  name: "codex",
  showTool: "exec_command",
  async prepare({ home }) {
    const model = startResponsesModel();
    const folder = join(home, ".codex");
    await mkdir(folder, { recursive: true });
    const config = [
      'model = "scripted"',
      'model_provider = "fake"',
      "[model_providers.fake]",
      'name = "Scripted"',
      `base_url = "${model.url}"`,
      'wire_api = "responses"',
      'env_key = "FAKE_KEY"',
      "supports_websockets = false",
      "request_max_retries = 2",
      "stream_max_retries = 2",
    ];
    await Bun.write(join(folder, "config.toml"), `${config.join("\n")}\n`);
    return {
      model,
      environment: { PATH: pathWith("codex"), CODEX_HOME: folder, FAKE_KEY: "none" },
      settings: { mode: "read-only" },
    };
  },
  show: (file) => shell(`cat ${file}`),
  touch: (file) =>
    call("exec_command", {
      cmd: `touch ${file}`,
      sandbox_permissions: "require_escalated",
      justification: "May I?",
    }),
  readMissing: (path) => call("exec_command", { cmd: `cat ${path}` }),
};
