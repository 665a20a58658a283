/** What a test needs to run one real ACP agent on a scripted model. */
import type { AgentSettings } from "../../../../src/hosts/acp/agents/agent-settings.ts";
import type { WireRequest } from "../../../../src/testing/models/model-endpoint.ts";
import type { Answer, Step } from "../../../../src/testing/models/script.ts";
import type { ScriptedModel } from "../../../../src/testing/models/scripted-model.ts";

/** A started model with the environment and the settings that make the agent use it. */
export interface PreparedAgent {
  model: Pick<ScriptedModel<WireRequest>, "script" | "gate" | "stop" | "requests">;
  /** In addition to HOME, PATH and TMPDIR. */
  environment: Record<string, string>;
  settings: AgentSettings;
}

export interface TestedAgent {
  /** Its name in the table of known agents. */
  name: string;
  /** As it reports calls that show a file. */
  showTool: string;
  /** `home` is its own HOME, `directory` the project that it works in. */
  prepare(folders: { home: string; directory: string }): Promise<PreparedAgent>;
  /** A call that shows a file of the project, without asking. */
  show(file: string): Answer;
  /** A call that needs a person's permission. */
  touch(file: string): Answer;
  /** A call that fails. */
  readMissing(path: string): Answer;
  /** Absent if the agent has no tool for it. */
  question?(text: string): Answer;
  /** An answer without content, as often as the agent asks again. */
  empties?: number;
  fail?(message: string): Step[];
  retry?(reason: string, times: number): Step[];
}
