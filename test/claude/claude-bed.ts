/**
 * A real Claude CLI with a scripted model, in its own folders. A test opens a `claudeBed`; `closeBeds` closes it and
 * asserts nothing: tests check for leftovers themselves.
 */

import type { ClaudeSession } from "../../src/claude/session/claude-session.ts";
import { type ClaudeOptions, openClaude } from "../../src/claude/session/open-claude.ts";
import type { TaskEvent } from "../../src/claude/tasks/task-events.ts";
import { type ClaudeHome, claudeEnvironment } from "../../src/testing/claude-home.ts";
import { type AnthropicModel, startAnthropicModel } from "../../src/testing/models/anthropic-model.ts";
import { scriptMarker } from "../../src/testing/models/script.ts";

export interface ClaudeBed {
  model: AnthropicModel;
  home: ClaudeHome;
  open(options?: ClaudeOptions): Promise<ClaudeSession>;
}

const closers: (() => Promise<unknown>)[] = [];

export async function claudeBed(environment: Record<string, string> = {}): Promise<ClaudeBed> {
  const model = startAnthropicModel();
  const home = await claudeEnvironment({ model, environment });
  closers.push(async () => {
    await model.stop();
    await home.remove();
  });
  const open = async (options: ClaudeOptions = {}) => {
    const session = await openClaude({
      cwd: home.directory,
      env: home.environment,
      permissionMode: "bypassPermissions",
      allowDangerouslySkipPermissions: true,
      ...options,
    });
    closers.push(() => session.close());
    return session;
  };
  return { model, home, open };
}

/** For afterEach: closes the beds, last opened first. */
export async function closeBeds(): Promise<void> {
  for (const close of closers.splice(0).reverse()) await close();
}

/** A prompt that makes its reader follow that script. */
export function follow(script: string): string {
  return `Do it. ${scriptMarker(script)}`;
}

/** The input of an Agent tool call that starts an agent on that script. */
export function agentInput(script: string, more: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    description: `Job ${script}`,
    prompt: follow(script),
    subagent_type: "general-purpose",
    run_in_background: true,
    ...more,
  };
}

/** The next event of that type. */
export async function nextEvent<Type extends TaskEvent["type"]>(
  events: AsyncIterator<TaskEvent>,
  type: Type,
): Promise<Extract<TaskEvent, { type: Type }>> {
  for (;;) {
    const { value, done } = await events.next();
    if (done) throw new Error(`The events ended before ${type}.`);
    if (value.type === type) return value as Extract<TaskEvent, { type: Type }>;
  }
}

/** All messages until the session ends. */
export async function collect<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const all: Item[] = [];
  for await (const item of items) all.push(item);
  return all;
}

export function isAlive(pid: number | undefined): boolean {
  if (pid === undefined) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
