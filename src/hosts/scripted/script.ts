/**
 * The step language of the scripted host: what an agent does in the turns of one session. Plain data except for `act`;
 * many sessions can share a script. An answer is one message of the agent; the delays before it (gates, pauses,
 * retries) hold it back. After a `call`, an `act` or an `ask` the turn continues; every other answer ends it.
 */

export type ScriptedAnswer =
  | { type: "say"; text: string }
  /** `fails` is the error of a failing call; the turn continues either way. */
  | { type: "call"; name: string; output: string; fails: string | null }
  /** A call that really does something. A rejection ends the turn as an error. Must stop when the signal aborts. */
  | { type: "act"; name: string; act(signal: AbortSignal): Promise<string> }
  /** Asks a person. A rejection ends the turn at this call. */
  | { type: "ask"; asks: "permission" | "question"; text: string }
  /** Opens a child session, makes it follow that script, and waits for it. */
  | { type: "delegate"; script: string }
  /** `returnMs`: in how long the provider will be back, as it says. */
  | { type: "fail"; message: string; returnMs: number | null }
  | { type: "empty" };

export type ScriptedDelay =
  | { type: "gate"; name: string }
  | { type: "pause"; ms: number }
  /** `returnMs`: the provider says that it will be back after that time, and the agent waits for it. */
  | { type: "retry"; reason: string; times: number; returnMs: number | null };

export type ScriptedStep = ScriptedAnswer | ScriptedDelay;
export type ScriptedScript = readonly ScriptedStep[];

/** Writes a text and ends the turn. */
export function say(text: string): ScriptedAnswer {
  return { type: "say", text };
}

/** Calls a tool, which returns that output or fails with that error. */
export function call(name: string, result: { output?: string; fails?: string } = {}): ScriptedAnswer {
  return { type: "call", name, output: result.output ?? "", fails: result.fails ?? null };
}

/** Calls a tool that does something outside the script. */
export function act(name: string, work: (signal: AbortSignal) => Promise<string>): ScriptedAnswer {
  return { type: "act", name, act: work };
}

/** Asks for a permission or asks a question, and waits until someone answers. */
export function ask(asks: "permission" | "question", text: string): ScriptedAnswer {
  return { type: "ask", asks, text };
}

/** Hands work to a session that it opens itself. */
export function delegate(script: string): ScriptedAnswer {
  return { type: "delegate", script };
}

/** Ends the turn with an error; with `returnMs`, the provider says that it will be back after that time. */
export function fail(message: string, { returnMs }: { returnMs?: number } = {}): ScriptedAnswer {
  return { type: "fail", message, returnMs: returnMs ?? null };
}

/** Ends the turn without any output. */
export function empty(): ScriptedAnswer {
  return { type: "empty" };
}

/** Holds the next answer until the named gate is opened. */
export function gate(name: string): ScriptedDelay {
  return { type: "gate", name };
}

/** Holds the next answer for that long. */
export function pause(ms: number): ScriptedDelay {
  return { type: "pause", ms };
}

/** The provider fails that many times before the next answer; with `returnMs`, it is waited for after the last. */
export function retry(reason: string, times = 1, { returnMs }: { returnMs?: number } = {}): ScriptedDelay {
  return { type: "retry", reason, times, returnMs: returnMs ?? null };
}

/** Text for a prompt that makes its session follow the named script from the beginning. */
export function markerOf(script: string): string {
  return `[[script:${script}]]`;
}

/** The script that a text names; the last one if there are several. */
export function scriptIn(text: string): string | null {
  return [...text.matchAll(/\[\[script:([^\]]+)\]\]/g)].at(-1)?.[1] ?? null;
}

/** Complete, so that a new delay does not compile until it is one. */
const DELAYS: Record<ScriptedDelay["type"], true> = { gate: true, pause: true, retry: true };

export function isDelay(step: ScriptedStep): step is ScriptedDelay {
  return Object.hasOwn(DELAYS, step.type);
}
