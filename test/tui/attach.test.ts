/** The panel in a screen that is attached to another process: it finds that one's server on the same machine. */
import { expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createClient } from "../../src/client/client.ts";
import { startOpenAiModel } from "../../src/testing/models/openai-model.ts";
import { call, say } from "../../src/testing/models/script.ts";
import { startOpenCode } from "../../src/testing/opencode/harness.ts";
import { PLUGIN, startTui } from "./tui-bed.ts";

/** Without tmux there is no terminal to draw on. */
const terminalTest = spawnSync("tmux", ["-V"]).status === 0 ? test : () => undefined;

terminalTest(
  "`opencode attach` shows the tasks of the server, and answers them",
  async () => {
    const model = startOpenAiModel();
    const question = { question: "Which way?", header: "Way", options: [{ label: "left", description: "west" }] };
    model.script("ask", [call("question", { questions: [question] }), say("gone")]);
    const env = { ASYNCAGENTS_API_PORT: "0" };
    const serving = await startOpenCode({ model, plugin: [PLUGIN], env });
    const { home, directory } = serving;
    const tui = await startTui({ home, directory, model, args: ["attach", serving.url], columns: 100 });
    try {
      // Its server starts with the first session that the screen asks for.
      const file = join(tui.data, "server.json");
      while (!existsSync(file)) await Bun.sleep(50);
      const { url, token, pid } = JSON.parse(readFileSync(file, "utf8"));
      expect(pid).toBe(serving.pid);
      const client = createClient({ url, token });
      const launch = { description: "Walk", prompt: "Go. [[script:ask]]", agent: "general" };
      const { id } = await client.launch(launch);
      await tui.shows(/● 1 task · 1 needs you/);
      tui.press("C-x", "j");
      await tui.shows(/Needs you[\s\S]*\? Walk/);
      await tui.enter("Enter", /Walk +esc[\s\S]*Decline to answer/);
      await tui.enter("Enter", /Answer +esc/);
      tui.type("left");
      await tui.shows(/ {3}left/);
      tui.press("Enter");
      await tui.hides(/● 1 task/);
      expect((await client.task(id)).status).toBe("completed");
    } finally {
      await tui.stop();
      await serving.stop();
      await model.stop();
    }
  },
  400_000,
);
