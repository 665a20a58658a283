/**
 * The module OpenCode loads: one default export and nothing else (every export of this file must be a plugin).
 */
import type { Plugin } from "@opencode-ai/plugin";
import { createPlugin } from "./plugin.ts";

const asyncagents: Plugin = (input, options) => createPlugin(input, options);

export default asyncagents;
