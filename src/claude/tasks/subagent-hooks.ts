/**
 * The hooks around a subagent, always in pairs: if Claude fires no SubagentStop (the agent was stopped, failed, ran out
 * of turns, or the process died), one is made up when the task ends, and marked. Exceptions in hooks are harmless.
 */
import { access, readlink } from "node:fs/promises";
import { pause } from "../../process/deadline.ts";
import type { SdkOptions } from "../sdk.ts";
import {
  type SubagentStartInput,
  type SubagentStopInput,
  subagentStartSchema,
  subagentStopSchema,
} from "./hook-inputs.ts";
import type { TaskOutcome } from "./task-run.ts";

/** What a hook may return to Claude, if anything. */
export type HookAnswer = Record<string, unknown> | undefined;

/** The two hooks. */
export interface SubagentHandlers {
  /** A subagent starts. The result (a HookAnswer, or a promise of one) goes to Claude. */
  onSubagentStart?(input: SubagentStartInput): unknown;
  /** A subagent stops: called once per start, unless a result makes it continue. */
  onSubagentStop?(input: SubagentStopInput): unknown;
}

/** Claude writes a transcript in the background, even while it waits for a hook. */
const TRANSCRIPT_MS = 2_000;
const PAUSE_MS = 20;

type Hooks = NonNullable<SdkOptions["hooks"]>;

/** Tracks the subagents that have started and not stopped. */
export class SubagentHooks {
  readonly #handlers: SubagentHandlers;
  readonly #onFailure: (handler: string, error: unknown) => void;
  readonly #open = new Map<string, SubagentStartInput>();
  readonly #calls = new Set<Promise<unknown>>();

  constructor(handlers: SubagentHandlers, onFailure: (handler: string, error: unknown) => void) {
    this.#handlers = handlers;
    this.#onFailure = onFailure;
  }

  /** Adds these two hooks to the SDK's. */
  added(hooks: SdkOptions["hooks"]): SdkOptions["hooks"] {
    const { onSubagentStart, onSubagentStop } = this.#handlers;
    if (!onSubagentStart && !onSubagentStop) return hooks;
    const answer = (work: (input: unknown) => Promise<HookAnswer>) => ({
      hooks: [async (input: unknown) => (await work(input)) ?? {}],
    });
    return {
      ...hooks,
      SubagentStart: [...(hooks?.SubagentStart ?? []), answer((input) => this.#start(input))],
      SubagentStop: [...(hooks?.SubagentStop ?? []), answer((input) => this.#stop(input))],
    } as Hooks;
  }

  /** A task ended: calls the stop hook if Claude has not. */
  ended(outcome: TaskOutcome): void {
    const call = this.#makeUp(outcome).finally(() => this.#calls.delete(call));
    this.#calls.add(call);
  }

  /** Resolves when the hooks for made-up stops have finished. */
  async settled(): Promise<void> {
    await Promise.all(this.#calls);
  }

  async #makeUp({ taskId, status, summary, outputFile }: TaskOutcome): Promise<void> {
    const start = this.#open.get(taskId);
    if (!start) return;
    this.#open.delete(taskId);
    const { session_id, transcript_path, cwd, agent_id, agent_type } = start;
    // The output file of an agent is a link to its transcript.
    const transcript = outputFile ? await readlink(outputFile).catch(() => outputFile) : "";
    await this.#call("onSubagentStop", {
      session_id,
      transcript_path,
      cwd,
      agent_id,
      agent_type,
      hook_event_name: "SubagentStop",
      stop_hook_active: false,
      agent_transcript_path: transcript,
      made_up: { status, summary },
    });
  }

  async #start(value: unknown): Promise<HookAnswer> {
    const parsed = subagentStartSchema.safeParse(value);
    if (!parsed.success) return this.#failed("onSubagentStart", parsed.error);
    this.#open.set(parsed.data.agent_id, parsed.data);
    return this.#call("onSubagentStart", parsed.data);
  }

  async #stop(value: unknown): Promise<HookAnswer> {
    const parsed = subagentStopSchema.safeParse(value);
    if (!parsed.success) return this.#failed("onSubagentStop", parsed.error);
    const start = this.#open.get(parsed.data.agent_id);
    this.#open.delete(parsed.data.agent_id);
    if (this.#handlers.onSubagentStop) await untilExists(parsed.data.agent_transcript_path);
    const answer = await this.#call("onSubagentStop", parsed.data);
    const goesOn = answer?.decision === "block" || answer?.hookSpecificOutput !== undefined;
    if (start && goesOn) this.#open.set(parsed.data.agent_id, start);
    return answer;
  }

  async #call<Name extends keyof SubagentHandlers>(
    name: Name,
    input: Parameters<NonNullable<SubagentHandlers[Name]>>[0],
  ): Promise<HookAnswer> {
    const handler = this.#handlers[name] as ((given: typeof input) => unknown) | undefined;
    try {
      return ((await handler?.(input)) ?? undefined) as HookAnswer;
    } catch (error) {
      return this.#failed(name, error);
    }
  }

  #failed(handler: string, error: unknown): undefined {
    this.#onFailure(handler, error);
  }
}

/** A hook that reads the transcript must find it. The wait is short, since an agent may have none. */
async function untilExists(path: string): Promise<void> {
  if (path === "") return;
  const exists = () =>
    access(path).then(
      () => true,
      () => false,
    );
  for (const end = performance.now() + TRANSCRIPT_MS; !(await exists()) && performance.now() < end; )
    await pause(PAUSE_MS);
}
