/**
 * A request to a scripted model as its script sees it, in any wire format: texts, tool calls and their results.
 * Invariant: everything is derived from `turns`, so that a wire format has only that to translate. Answers nothing and
 * knows no scripts.
 */

export interface ModelToolCall {
  id: string;
  name: string;
  /** JSON. */
  input: string;
}

export interface ToolResult {
  callId: string;
  text: string;
}

/** One message, in a form that both wire formats share. A message of results only has no text. */
export interface ModelTurn {
  role: "user" | "assistant" | "other";
  text: string;
  calls: ModelToolCall[];
  results: ToolResult[];
}

/**
 * All but `turn` are the client's own requests (naming a session, compacting it, testing the key); they never consume a
 * step.
 */
export type RequestKind = "turn" | "title" | "summary" | "probe";

export abstract class ModelRequest {
  abstract readonly sessionId: string;
  abstract readonly kind: RequestKind;
  abstract readonly turns: readonly ModelTurn[];
  /** The names of the tools offered to the model. */
  abstract readonly toolNames: string[];

  /** Whose position in a script it uses: the session, or an agent inside it with its own context. */
  get speaker(): string {
    return this.sessionId;
  }

  get userTexts(): string[] {
    return this.turns.filter(isPrompt).map(({ text }) => text);
  }

  get lastUserText(): string {
    return this.userTexts.at(-1) ?? "";
  }

  get assistantTexts(): string[] {
    return this.turns.filter(({ role }) => role === "assistant").map(({ text }) => text);
  }

  /** The calls of a tool so far (of all tools without a name), oldest first. */
  toolCalls(name?: string): ModelToolCall[] {
    const all = this.turns.flatMap(({ calls }) => calls);
    return name === undefined ? all : all.filter((call) => call.name === name);
  }

  /** The results of a tool so far (of all tools without a name), oldest first. */
  toolResults(name?: string): string[] {
    const own = new Set(this.toolCalls(name).map(({ id }) => id));
    const results = this.turns.flatMap((turn) => turn.results);
    return results.filter(({ callId }) => name === undefined || own.has(callId)).map(({ text }) => text);
  }

  /** The newest result of a tool; throws if there is none, since the script would continue with nothing. */
  toolResult(name?: string): string {
    const result = this.toolResults(name).at(-1);
    if (result === undefined) throw new Error(`The request holds no result of ${name ?? "any tool"}.`);
    return result;
  }

  /** The first capture (or else the whole match) of a pattern in the newest tool result that matches it. */
  fromToolResults(pattern: RegExp, name?: string): string {
    for (const result of this.toolResults(name).reverse()) {
      const match = pattern.exec(result);
      if (match) return match[1] ?? match[0];
    }
    throw new Error(
      `No result of ${name ?? "any tool"} matches ${pattern}. Results: ${JSON.stringify(this.toolResults(name))}`,
    );
  }
}

function isPrompt({ role, text, results }: ModelTurn): boolean {
  return role === "user" && (text !== "" || results.length === 0);
}

/** Tells sessions apart in a format that has no id for them: the first script that a prompt names. */
export function firstScriptIn(userTexts: readonly string[]): string {
  return /\[\[script:([^\]]+)\]\]/.exec(userTexts.join("\n"))?.[1] ?? "";
}
