/**
 * Two background agents of a Claude session, awaited. The model is scripted, so that it needs no key; leave `env` out
 * to use yours.
 * Run it: bun examples/claude-review.ts
 */
import { openClaude } from "asyncagents/claude";
import { claudeEnvironment, modelScript, startAnthropicModel } from "asyncagents/testing";

const { calls, say, scriptMarker } = modelScript;
const files = ["cart.ts", "shop.ts"];

// What the model says: the session starts one agent for each file, and each agent answers.
const model = startAnthropicModel();
const agent = (file: string) => ({
  description: `Review ${file}`,
  prompt: `Review ${file} ${scriptMarker(file)}`,
  subagent_type: "general-purpose",
  run_in_background: true,
});
model.script("review", [
  calls(files.map((file) => ({ name: "Agent", input: agent(file) }))),
  ...Array.from({ length: 4 }, () => say("noted")),
]);
for (const file of files) model.script(file, [say(`${file} is fine`)]);

const home = await claudeEnvironment({ model });
const claude = await openClaude({
  cwd: home.directory,
  env: home.environment,
  permissionMode: "bypassPermissions",
  allowDangerouslySkipPermissions: true,
});
try {
  await claude.send(`Review the shop. ${scriptMarker("review")}`);
  // The turn is over, and the agents go on.
  for (const task of claude.tasks.list()) {
    const { status, summary } = await task.wait({ timeout: 60_000 });
    console.log(`${task.description}: ${status}: ${summary}`);
  }
} finally {
  await claude.close();
  await model.stop();
  await home.remove();
}
