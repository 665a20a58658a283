/**
 * A program that runs one prompt on the Claude host until its test kills it.
 */
import { claudeHost } from "../../../src/hosts/claude/claude-host.ts";
import { AGENT } from "./claude-bed.ts";

const { directory, folder, text } = (await Bun.stdin.json()) as { directory: string; folder: string; text: string };
const host = claudeHost({
  directory,
  folder,
  options: { permissionMode: "bypassPermissions", allowDangerouslySkipPermissions: true },
});
const start = { parentSessionId: "", parentAgent: "", title: "Killed", agent: AGENT, model: null, launchId: "killed" };
const session = await host.start({ ...start, denyTools: [] });
await host.prompt(session, { messageId: host.newMessageId(), text, agent: AGENT, model: null });
await Bun.sleep(600_000);
