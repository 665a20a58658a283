/**
 * The plugin as OpenCode loads it, which also records when loading began, in a file named by the environment. One
 * default export and nothing else: every export of this file must be a plugin.
 */
import { writeFileSync } from "node:fs";

const began = performance.timeOrigin + performance.now();
const { default: plugin } = await import("../../src/opencode/server.ts");

writeFileSync(process.env.ASYNCAGENTS_BENCH_STAMP ?? "", String(began));

export default plugin;
